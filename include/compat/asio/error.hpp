#pragma once

#include <fairlead/base/error.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>

namespace fairlead {

namespace stream_errc { // Names of the Networking TS.
using error::eof;
using error::not_found;
} // namespace stream_errc
namespace socket_errc {
using error::already_open;
using error::not_found;
} // namespace socket_errc

} // namespace fairlead
