#pragma once

#include <fairlead/legacy/allocator_property.hpp>

#include <asio/fairlead.hpp>
