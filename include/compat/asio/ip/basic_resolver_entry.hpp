#pragma once

#include <fairlead/net/resolver_entry.hpp>

#include <asio/fairlead.hpp>
