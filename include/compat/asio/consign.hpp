#pragma once

#include <fairlead/token/consign.hpp>

#include <asio/fairlead.hpp>
