// An event: set or not, and waited for until it is.
#pragma once

#include <fairlead/sync/waited_object.hpp>

#include <string>

namespace fairlead {

template <class Executor = any_io_executor> class basic_event;
/// The one with the default executor.
using event = basic_event<>;

namespace impl::sync {

class FAIRLEAD_EXPORT event_core final : public waited_object {
public:
    template <class Executor> event_core(Executor const& e, bool is_set) : waited_object(e), is_set_(is_set) {}
    FAIRLEAD_EXPORT ~event_core();

    FAIRLEAD_EXPORT bool is_set() const noexcept;
    FAIRLEAD_EXPORT void set() noexcept;
    FAIRLEAD_EXPORT void reset() noexcept;
    bool try_wait() const noexcept { return is_set(); }
    FAIRLEAD_EXPORT void wait(wait_op& o) noexcept;

private:
    void let_go(op_queue& ready) noexcept override;

    bool is_set_;
};

struct wait_for_event : wait_primitive<wait_for_event, event_core> {
    using wait_primitive::wait_primitive;
    static std::string describe() { return "wait for an event"; }
};

} // namespace impl::sync

/// Set or not. Once set it stays so until it is reset, and lets all pass.
/// Threads: any. Destroyed, or cancelled: waits complete with operation_aborted.
template <class Executor> class basic_event {
public:
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_event<E>;
    };

    explicit basic_event(Executor const& e, bool is_set = false) : executor_(e), core_(e, is_set) {}
    template <execution_context_type Context> explicit basic_event(Context& c, bool is_set = false)
        : basic_event(Executor(c.get_executor()), is_set) {}
    basic_event(basic_event const&) = delete;
    basic_event& operator=(basic_event const&) = delete;

    executor_type get_executor() const noexcept { return executor_; }
    bool is_set() const noexcept { return core_.is_set(); }
    /// All that wait complete, also if it is reset at once.
    void set() noexcept { core_.set(); }
    void reset() noexcept { core_.reset(); }
    /// Waits complete with operation_aborted; returns how many.
    std::size_t cancel() noexcept { return core_.cancel(); }

    /// Waits until it is set.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled
    /// Cancel     terminal, partial, total
    /// Immediate  when it is set
    /// Lifetime   *this outlives the call
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>> decltype(auto) async_wait(
        Token&& token = {}) noexcept(impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::wait_for_event>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::sync::wait_for_event(core_));
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.runs_handlers(); }

private:
    Executor executor_;
    impl::sync::event_core core_;
};

} // namespace fairlead
