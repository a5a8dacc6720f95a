#pragma once

#include <fairlead/token/detached.hpp>

#include <asio/fairlead.hpp>
