#pragma once

#include <fairlead/net/descriptor.hpp>

#include <asio/fairlead.hpp>
