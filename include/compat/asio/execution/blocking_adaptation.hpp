#pragma once

#include <fairlead/exec/blocking_adaptation.hpp>

#include <asio/fairlead.hpp>
