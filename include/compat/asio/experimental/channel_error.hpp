#pragma once

#include <fairlead/sync/channel_error.hpp>

#include <asio/fairlead.hpp>
