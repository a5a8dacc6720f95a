// Forward declarations; with so many default arguments the headers themselves are the only honest ones.
#pragma once

#include <asio.hpp>
