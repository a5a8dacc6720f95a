#pragma once

#include <fairlead/exec/strand.hpp>

#include <asio/fairlead.hpp>
