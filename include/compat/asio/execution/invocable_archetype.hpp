#pragma once

#include <fairlead/exec/invocable_archetype.hpp>

#include <asio/fairlead.hpp>
