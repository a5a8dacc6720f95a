#pragma once

#include <fairlead/legacy/require_concept.hpp>

#include <asio/fairlead.hpp>
