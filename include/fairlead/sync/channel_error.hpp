// The errors of channels under the names that Asio gives them.
#pragma once

#include <fairlead/base/error.hpp>

namespace fairlead::experimental {
namespace error {

using fairlead::error::channel_cancelled;
using fairlead::error::channel_closed;
using fairlead::error::channel_errors;
using fairlead::error::get_channel_category;
using fairlead::error::make_error_code;

} // namespace error
namespace channel_errc {

/// As error::channel_cancelled.
using error::channel_cancelled;
/// As error::channel_closed.
using error::channel_closed;

} // namespace channel_errc
} // namespace fairlead::experimental
