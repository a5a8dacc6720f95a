// Signal sets: waiting for signals of the process.
#pragma once

#include <fairlead/io/io_context.hpp>
#include <fairlead/io/io_loop_for.hpp>
#include <fairlead/net/fwd.hpp>
#include <fairlead/net/signal_set_base.hpp>
#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/initiate_on.hpp>

#include <csignal> // for programs: the names of the signals

namespace fairlead {

/// The one with the default executor.
using signal_set = basic_signal_set<>;

namespace detail {

/// The half of a signal set that no template parameter changes. Its driver knows of it from the first use on.
class signal_core {
public:
    explicit signal_core(io::impl::io_loop_ref const& l) noexcept : engine_(l) {}
    signal_core(signal_core const&) = delete;
    signal_core& operator=(signal_core const&) = delete;
    FAIRLEAD_EXPORT ~signal_core();

    io_loop& engine() const noexcept { return *engine_; }
    bool runs_handlers() const noexcept { return engine_.runs_handlers(); }
    FAIRLEAD_EXPORT error_code add(int number, int flags) noexcept;
    FAIRLEAD_EXPORT error_code remove(int number) noexcept;
    FAIRLEAD_EXPORT error_code clear() noexcept;
    FAIRLEAD_EXPORT std::size_t cancel() noexcept;
    FAIRLEAD_EXPORT void wait(io::signal_op& o) noexcept;

private:
    error_code open() noexcept;
    io::impl::io_loop_ref engine_;
    io::signal_source* source_ = nullptr;
};

struct signal_wait : impl::operation::primitive<signal_wait> {
    using signature = void(error_code, int);
    using record = io::signal_op;

    signal_core* set;

    explicit signal_wait(signal_core& s) noexcept : set(&s) {}
    loop* home() const noexcept { return &set->engine(); }
    void prepare(record& o) const noexcept {
        o.cancel = nullptr;
        o.source = nullptr;
    }
    void submit(record& o) const noexcept { set->wait(o); }
    static std::tuple<error_code, int> take(record& o) noexcept {
        return {impl::operation::to_error_code(o.result.error), static_cast<int>(o.result.n)};
    }
    static std::string describe() { return "wait for a signal"; }
};
static_assert(await_record::fits<io::signal_op>);

[[noreturn]] FAIRLEAD_COLD inline void throw_signal_error(error_code const& ec, char const* what, int number) {
    impl::base::throw_error_now(ec, std::string(what).append(" signal ").append(std::to_string(number)).c_str());
}

} // namespace detail

/// Some signals of the process. Signals that come while no wait is pending are kept. Each wait is given one of them,
/// the lowest number first. Every set that has the signal gets it. The system itself merges signals of one number that
/// come faster than the process takes them. The handler of a signal is the library's from the first set that adds it
/// until the last one removes it. Then the former handler comes back.
/// Threads: one object by one thread at a time. A simulated host has signals of its own (sim::host::raise).
template <class Executor> class basic_signal_set : public signal_set_base {
public:
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_signal_set<E>;
    };

    explicit basic_signal_set(Executor const& e) : executor_(e), core_(io::impl::io_loop_for(e)) {}
    template <execution_context_type Context> explicit basic_signal_set(Context& c)
        : basic_signal_set(Executor(c.get_executor())) {}
    /// With up to three signals.
    basic_signal_set(Executor const& e, int first) : basic_signal_set(e) { add(first); }
    basic_signal_set(Executor const& e, int first, int second) : basic_signal_set(e, first) { add(second); }
    basic_signal_set(Executor const& e, int first, int second, int third) : basic_signal_set(e, first, second) {
        add(third);
    }
    template <execution_context_type Context, std::same_as<int>... Numbers>
        requires(sizeof...(Numbers) >= 1 && sizeof...(Numbers) <= 3)
    explicit basic_signal_set(Context& c, Numbers... numbers)
        : basic_signal_set(Executor(c.get_executor()), numbers...) {}
    basic_signal_set(basic_signal_set const&) = delete;
    basic_signal_set& operator=(basic_signal_set const&) = delete;
    ~basic_signal_set() = default;

    executor_type get_executor() const noexcept { return executor_; }

    /// Errors     error::invalid_argument         no such signal, or one that cannot be caught; or the process
    ///                                            has it with other flags already
    void add(int number) { add(number, flags::dont_care); }
    error_code add(int number, error_code& ec) { return ec = core_.add(number, static_cast<int>(flags::dont_care)); }
    void add(int number, flags_t f) {
        if (auto const ec = core_.add(number, static_cast<int>(f)))
            detail::throw_signal_error(ec, "add", number);
    }
    error_code add(int number, flags_t f, error_code& ec) { return ec = core_.add(number, static_cast<int>(f)); }
    /// Forgets the signal and what has come of it. Waits stay pending.
    void remove(int number) {
        if (auto const ec = core_.remove(number))
            detail::throw_signal_error(ec, "remove", number);
    }
    error_code remove(int number, error_code& ec) { return ec = core_.remove(number); }
    /// Removes all signals.
    void clear() { impl::base::throw_error(core_.clear(), "clear"); }
    error_code clear(error_code& ec) { return ec = core_.clear(); }
    /// Pending waits complete with operation_aborted; the signals stay.
    void cancel() { core_.cancel(); }
    error_code cancel(error_code& ec) {
        core_.cancel();
        ec = {};
        return ec;
    }

    /// Waits for a signal of the set, or fetches one that has come.
    /// Completes  (error_code ec, int number)
    /// Errors     error::operation_aborted        cancelled; number is 0
    /// Cancel     terminal, partial, total
    /// Immediate  never
    /// Lifetime   *this outlives the completion
    /// Threads    one object by one thread at a time
    /// Allocates  nothing awaited
    /// Source     man 7 signal
    template <class Token = default_completion_token_t<Executor>> decltype(auto)
    async_wait(Token&& token = {}) noexcept(impl::operation::nothrow_token<std::decay_t<Token>, detail::signal_wait>) {
        return impl::operation::initiate_on<void(error_code, int)>(*this, std::forward<Token>(token),
                                                                   detail::signal_wait(core_));
    }
    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.runs_handlers(); }

private:
    Executor executor_;
    detail::signal_core core_;
};

} // namespace fairlead
