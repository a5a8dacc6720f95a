// The properties of executors: their names and values, and what the library asks of executors that know them.
#pragma once

#include <fairlead/legacy/property_hook.hpp>
#include <fairlead/legacy/property_values.hpp>
