#pragma once

#include <fairlead/exec/prefer_only.hpp>

#include <asio/fairlead.hpp>
