#pragma once

#include <fairlead/legacy/invocable_archetype.hpp>

#include <asio/fairlead.hpp>
