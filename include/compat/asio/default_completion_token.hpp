#pragma once

#include <fairlead/operation/default_token.hpp>

#include <asio/fairlead.hpp>
