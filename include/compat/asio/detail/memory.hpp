#pragma once

#include <asio/fairlead.hpp>

#include <memory>

/// The allocator `alloc` for objects of type `t`.
#define ASIO_REBIND_ALLOC(alloc, t) typename std::allocator_traits<alloc>::template rebind_alloc<t>

namespace fairlead {

using std::allocator_arg_t;

namespace detail {
using std::addressof;
using std::allocate_shared;
using std::make_shared;
using std::shared_ptr;
using std::to_address;
using std::weak_ptr;
} // namespace detail

} // namespace fairlead
