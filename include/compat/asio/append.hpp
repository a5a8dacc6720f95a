#pragma once

#include <fairlead/token/append.hpp>

#include <asio/fairlead.hpp>
