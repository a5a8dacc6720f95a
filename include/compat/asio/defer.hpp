#pragma once

#include <fairlead/token/post_function.hpp>

#include <asio/fairlead.hpp>
