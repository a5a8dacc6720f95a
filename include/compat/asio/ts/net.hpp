#pragma once

#include <asio/ts/netfwd.hpp>
