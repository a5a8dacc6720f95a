// Senders of stdexec in coroutines of this library, and with its tokens. A program includes this if it awaits them. The
// other direction needs no header: operations and executors of this library are senders and schedulers of stdexec.
//
// Without stdexec there is nothing in here.
#pragma once

#if __has_include(<stdexec/execution.hpp>)

#include <fairlead/sender/await_sender.hpp>
#include <fairlead/sender/submit.hpp>

#include <stdexec/execution.hpp>

#include <type_traits>
#include <utility>

namespace fairlead::impl::sender {

template <class Sender>
concept sender_of_stdexec = !execution::sender<Sender> && stdexec::sender<Sender>;
template <sender_of_stdexec Sender> struct protocol_of<Sender> {
    using receiver_tag = stdexec::receiver_tag;
    template <class Env> using signatures = stdexec::completion_signatures_of_t<Sender, Env>;
    template <class Receiver> static auto connect(Sender&& s, Receiver r) {
        return stdexec::connect(std::forward<Sender>(s), std::move(r));
    }
    template <class State> static void start(State& o) noexcept { stdexec::start(o); }
};

} // namespace fairlead::impl::sender

/// Some have no sender_concept, such as exec::task.
template <fairlead::impl::sender::sender_of_stdexec Sender>
inline constexpr bool fairlead::impl::coro::is_foreign_sender<Sender> = true;

#endif
