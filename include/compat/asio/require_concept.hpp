#pragma once

#include <fairlead/exec/require_concept.hpp>

#include <asio/fairlead.hpp>
