// One host of a simulated world: a process on it, its addresses, its clock.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/address.hpp>
#include <fairlead/sim/disk.hpp>
#include <fairlead/token/post.hpp>

#include <cstddef>
#include <fairlead/base/durations.hpp>
#include <functional>
#include <string_view>

namespace fairlead::sim {

struct host_state;

/// Made by world::add_host. Lives as long as the world, whatever happens to it.
///
/// Everything here may be called from outside run(), from world::at() and from programs in the world. An action of a
/// program on its own host happens when its current turn is over.
class FAIRLEAD_EXPORT host {
public:
    host(host const&) = delete;
    host& operator=(host const&) = delete;

    std::string_view name() const noexcept;
    ip::address_v4 address() const noexcept;    ///< 10.0.x.y, counted from 10.0.0.1
    ip::address_v6 address_v6() const noexcept; ///< fd00::x:y, with the same numbers
    /// Objects that live on the host are made with this. It stays the same over kill, crash and restart.
    io_context& context() noexcept;
    /// Its files, which outlive the process.
    sim::disk& disk() noexcept;
    bool is_up() const noexcept;
    /// The coroutine that the host was started with has ended, or it never had one.
    bool is_done() const noexcept;

    /// The process ends without a word to itself, as with kill -9: nothing in it runs any more, coroutines and handlers
    /// are destroyed. The system closes its sockets, so that the peers learn of it.
    void kill();
    /// The host loses power: as kill(), but nobody learns of it before something is sent there again.
    void crash();
    /// Switches the host on if it is down, and starts the process anew.
    void restart();
    /// The process gets no turn until resume(), as with SIGSTOP. Its system goes on receiving for it.
    void pause();
    void resume();

    /// A signal comes to the process: every `signal_set` of the host that has the number gets it, as with raise(3). False:
    /// no set has it, or the host is down. A system would then do its own about it, as to end the process: see kill().
    bool raise(int number) noexcept;

    /// So many descriptors at once; more fail with EMFILE.
    void descriptor_limit(std::size_t most) noexcept;
    /// How much faster than the world's its clocks go, in parts per million; -500'000 to 500'000.
    void clock_drift(int ppm) noexcept;
    /// Sets the wall clock. The steady clock never jumps.
    void jump_wall_clock(std::chrono::nanoseconds by) noexcept;

private:
    friend class world;
    friend struct host_state;
    explicit host(host_state& s) noexcept : state_(s) {}

    host_state& state_;
};

namespace impl {

/// Starts a host's program. The end of its coroutine is told to `ended`, unless it is destroyed before.
using starter = std::function<void(host&, std::function<void(std::exception_ptr)> ended)>;

template <class F> decltype(auto) call_program(F& f, host& h) {
    if constexpr (std::is_invocable_v<F&, host&>)
        return f(h);
    else if constexpr (std::is_invocable_v<F&, io_context&>)
        return f(h.context());
    else
        return f();
}

template <class F> starter make_starter(F program) {
    return [program = std::move(program)](host& h, std::function<void(std::exception_ptr)> ended) mutable {
        using result = decltype(call_program(program, h));
        if constexpr (std::is_void_v<result>) {
            post(h.context(), [&program, &h, ended = std::move(ended)] {
                call_program(program, h);
                ended(nullptr);
            });
        } else {
            // The function is called on the host, too, and kept by the host for as long as the world lives.
            co_spawn(
                h.context(), [&program, &h] { return call_program(program, h); },
                [ended = std::move(ended)](std::exception_ptr e, auto&&...) { ended(std::move(e)); });
        }
    };
}

} // namespace impl

} // namespace fairlead::sim
