#pragma once

#include <fairlead/legacy/prefer_only.hpp>

#include <asio/fairlead.hpp>
