#pragma once

#include <fairlead/token/prepend.hpp>

#include <asio/fairlead.hpp>
