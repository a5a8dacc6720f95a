#pragma once

#include <fairlead/exec/recycler.hpp>

#include <asio/fairlead.hpp>
