// A read or a write of a stream of bytes, whatever it is made of. Its error may have any category.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/io/io_op.hpp>
#include <fairlead/operation/tried.hpp>

#include <cstddef>

namespace fairlead::impl::net {

struct byte_op : io::io_op {
    error_category const* category; ///< of result.error; null: the system's, as a driver reports it

    byte_op() noexcept {}
    /// Everything but run; also when the op is used again.
    void begin(io::kind k, void* d, std::size_t n) noexcept {
        result = {0, 0, 0};
        kind = k;
        data = d;
        size = n;
        category = nullptr;
    }
    void fail(error_code const& ec) noexcept {
        category = &ec.category();
        result.error = ec.value();
    }
    error_code error() const noexcept {
        return category ? error_code(result.error, *category) : operation::to_error_code(result.error);
    }
};

} // namespace fairlead::impl::net
