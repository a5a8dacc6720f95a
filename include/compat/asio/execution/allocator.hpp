#pragma once

#include <fairlead/exec/allocator_property.hpp>

#include <asio/fairlead.hpp>
