#pragma once

#include <fairlead/token/associated.hpp>

#include <asio/fairlead.hpp>
