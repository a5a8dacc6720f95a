#pragma once

#include <fairlead/net/generic.hpp>

#include <asio/fairlead.hpp>
