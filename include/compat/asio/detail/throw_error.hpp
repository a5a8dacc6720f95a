#pragma once

#include <fairlead/base/error.hpp>

#include <asio/fairlead.hpp>

namespace fairlead::detail {

using impl::base::throw_error;
inline void throw_error(error_code const& ec) {
    if (ec)
        throw system_error(ec);
}

} // namespace fairlead::detail
