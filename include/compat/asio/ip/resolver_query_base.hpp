#pragma once

#include <fairlead/net/resolver.hpp>

#include <asio/fairlead.hpp>
