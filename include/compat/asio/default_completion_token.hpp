#pragma once

#include <fairlead/token/default_token.hpp>

#include <asio/fairlead.hpp>
