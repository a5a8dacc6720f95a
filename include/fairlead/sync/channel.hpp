// experimental::channel: basic_channel with the usual traits, and the usual executor unless one is named.
#pragma once

#include <fairlead/sync/basic_channel.hpp>

namespace fairlead {
namespace impl::sync {

template <class First, class... Rest> struct channel_type {
    using type = experimental::basic_channel<any_io_executor, experimental::channel_traits<>, First, Rest...>;
};
template <class Executor, class... Signatures>
    requires(!std::is_function_v<Executor>)
struct channel_type<Executor, Signatures...> {
    using type = experimental::basic_channel<Executor, experimental::channel_traits<>, Signatures...>;
};

} // namespace impl::sync

namespace experimental {

/// `channel<Signatures...>`, or `channel<Executor, Signatures...>`.
template <class ExecutorOrSignature, class... Signatures> using channel =
    typename impl::sync::channel_type<ExecutorOrSignature, Signatures...>::type;

} // namespace experimental
} // namespace fairlead
