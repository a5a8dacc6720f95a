#pragma once

#include <fairlead/net/connect.hpp>

#include <asio/fairlead.hpp>
