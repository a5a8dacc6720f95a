// Replies that are maps with known fields among others.
#pragma once

#include <fairlead/redis/response.hpp>

#include <cstddef>
#include <string>

namespace fairlead::redis::impl {

/// Reads a map. `read_field(name, ec)` says whether it has read the value of a field; others are passed over.
template <class ReadField> error_code read_fields(reply_reader& in, ReadField const& read_field) {
    error_code ec;
    auto const fields = enter_map(in, ec);
    std::string name;
    for (std::size_t i = 0; i != fields && !ec; ++i) {
        ec = in.read(name);
        if (!ec && !read_field(name, ec))
            in.skip();
    }
    return ec;
}

} // namespace fairlead::redis::impl
