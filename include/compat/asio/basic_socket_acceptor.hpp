#pragma once

#include <fairlead/net/acceptor.hpp>

#include <asio/fairlead.hpp>
