// P0055R1's single-form verbs: one short name for each operation, the token last, use_await its default.
//
//   co_await send(s, b)        send(s, b, block)        send(s, b, block[ec])
//   send(s, b, use_future)     send(s, b, handler)
//
// They are function objects, so that argument-dependent look-up never finds the synchronous fairlead::write instead.
// Where both namespaces are open the names that both have (connect, read, write, read_until) need their verbs:: still.
#pragma once

#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/descriptor.hpp>
#include <fairlead/net/pipe.hpp>
#include <fairlead/net/raw_socket.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/seq_packet_socket.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/use_future.hpp>

namespace fairlead::verbs {
namespace detail {

struct send_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_send(std::forward<A>(a)...))) {
        return s.async_send(std::forward<A>(a)...);
    }
};
struct receive_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_receive(std::forward<A>(a)...))) {
        return s.async_receive(std::forward<A>(a)...);
    }
};
struct send_to_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_send_to(std::forward<A>(a)...))) {
        return s.async_send_to(std::forward<A>(a)...);
    }
};
struct receive_from_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_receive_from(std::forward<A>(a)...))) {
        return s.async_receive_from(std::forward<A>(a)...);
    }
};
struct shutdown_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_shutdown(std::forward<A>(a)...))) {
        return s.async_shutdown(std::forward<A>(a)...);
    }
};
struct shutdown_send_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_shutdown_send(std::forward<A>(a)...))) {
        return s.async_shutdown_send(std::forward<A>(a)...);
    }
};
struct read_some_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_read_some(std::forward<A>(a)...))) {
        return s.async_read_some(std::forward<A>(a)...);
    }
};
struct write_some_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_write_some(std::forward<A>(a)...))) {
        return s.async_write_some(std::forward<A>(a)...);
    }
};
struct fill_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_fill(std::forward<A>(a)...))) {
        return s.async_fill(std::forward<A>(a)...);
    }
};
struct flush_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_flush(std::forward<A>(a)...))) {
        return s.async_flush(std::forward<A>(a)...);
    }
};
struct accept_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_accept(std::forward<A>(a)...))) {
        return s.async_accept(std::forward<A>(a)...);
    }
};
struct connect_verb {
    template <class S, class... A>
        requires requires(S& s, A&&... a) { s.async_connect(std::forward<A>(a)...); }
    decltype(auto) operator()(S& s, A&&... a) const noexcept(noexcept(s.async_connect(std::forward<A>(a)...))) {
        return s.async_connect(std::forward<A>(a)...);
    }
    template <class S, class... A>
        requires(!requires(S& s, A&&... a) { s.async_connect(std::forward<A>(a)...); })
    decltype(auto) operator()(S& s, A&&... a) const {
        return fairlead::async_connect(s, std::forward<A>(a)...);
    }
};
struct wait_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(s.async_wait(std::forward<A>(a)...))) {
        return s.async_wait(std::forward<A>(a)...);
    }
};
struct resolve_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const {
        return s.async_resolve(std::forward<A>(a)...);
    }
};
struct read_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(fairlead::async_read(s, std::forward<A>(a)...))) {
        return fairlead::async_read(s, std::forward<A>(a)...);
    }
};
struct write_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const
        noexcept(noexcept(fairlead::async_write(s, std::forward<A>(a)...))) {
        return fairlead::async_write(s, std::forward<A>(a)...);
    }
};
struct read_until_verb {
    template <class S, class... A> decltype(auto) operator()(S& s, A&&... a) const {
        return fairlead::async_read_until(s, std::forward<A>(a)...);
    }
};

} // namespace detail

inline constexpr detail::send_verb send{};                   ///< object.async_send(...)
inline constexpr detail::receive_verb receive{};             ///< object.async_receive(...)
inline constexpr detail::send_to_verb send_to{};             ///< object.async_send_to(...)
inline constexpr detail::receive_from_verb receive_from{};   ///< object.async_receive_from(...)
inline constexpr detail::shutdown_send_verb shutdown_send{}; ///< object.async_shutdown_send(...)
inline constexpr detail::shutdown_verb shutdown{};           ///< object.async_shutdown(...)
inline constexpr detail::read_some_verb read_some{};         ///< object.async_read_some(...)
inline constexpr detail::write_some_verb write_some{};       ///< object.async_write_some(...)
inline constexpr detail::fill_verb fill{};                   ///< stream.async_fill(...)
inline constexpr detail::flush_verb flush{};                 ///< stream.async_flush(...)
inline constexpr detail::accept_verb accept{};               ///< object.async_accept(...)
inline constexpr detail::connect_verb connect{}; ///< object.async_connect(...), or async_connect(s, ...) with a range
inline constexpr detail::wait_verb wait{};       ///< object.async_wait(...)
inline constexpr detail::resolve_verb resolve{}; ///< object.async_resolve(...)
inline constexpr detail::read_verb read{};       ///< async_read(s, ...)
inline constexpr detail::write_verb write{};     ///< async_write(s, ...)
inline constexpr detail::read_until_verb read_until{}; ///< async_read_until(s, ...)

} // namespace fairlead::verbs
