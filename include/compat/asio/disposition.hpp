#pragma once

#include <fairlead/base/disposition.hpp>

#include <asio/fairlead.hpp>
