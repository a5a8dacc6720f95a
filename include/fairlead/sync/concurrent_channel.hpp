// experimental::concurrent_channel: basic_concurrent_channel with the usual traits, and the usual executor unless one
// is named.
#pragma once

#include <fairlead/sync/basic_channel.hpp>

namespace fairlead {
namespace impl::sync {

template <class First, class... Rest> struct concurrent_channel_type {
    using type =
        experimental::basic_concurrent_channel<any_io_executor, experimental::channel_traits<>, First, Rest...>;
};
template <class Executor, class... Signatures>
    requires(!std::is_function_v<Executor>)
struct concurrent_channel_type<Executor, Signatures...> {
    using type = experimental::basic_concurrent_channel<Executor, experimental::channel_traits<>, Signatures...>;
};

} // namespace impl::sync

namespace experimental {

/// `concurrent_channel<Signatures...>`, or `concurrent_channel<Executor, Signatures...>`.
template <class ExecutorOrSignature, class... Signatures> using concurrent_channel =
    typename impl::sync::concurrent_channel_type<ExecutorOrSignature, Signatures...>::type;

} // namespace experimental
} // namespace fairlead
