// execution::blocking_adaptation: whether an executor that cannot wait for what it runs may be made into one that does.
#pragma once

#include <fairlead/exec/executor_concept.hpp>
#include <fairlead/exec/waited_call.hpp>
#include <fairlead/legacy/context_property.hpp>
#include <fairlead/legacy/executor_around.hpp>
#include <fairlead/legacy/properties.hpp>

#include <concepts>
#include <cstdint>
#include <utility>

namespace fairlead {
namespace execution {

/// Whether blocking.always may be required of an executor that does not know it: execute(f) gives it f then, and waits
/// in the calling thread. Every executor can be allowed to. An exception of f leaves execute(), which also returns when
/// f was given up. If the executor needs the waiting thread, the call waits for ever.
class blocking_adaptation_t : public impl::legacy::valued_property<blocking_adaptation_t> {
public:
    using valued_property::valued_property;
    struct disallowed_t : one_value<disallowed_t> {};
    /// Cannot be preferred: who asks for it relies on it.
    struct allowed_t : one_value<allowed_t, false> {};
    using values = impl::legacy::property_values<disallowed_t, allowed_t>;
    static constexpr disallowed_t disallowed{};
    static constexpr allowed_t allowed{};
};
/// `require(ex, execution::blocking_adaptation.allowed)`
inline constexpr blocking_adaptation_t blocking_adaptation{};

} // namespace execution

namespace impl::legacy {

/// An executor of which blocking.always may be required.
template <class Executor> class adaptable_executor
    : public executor_around<adaptable_executor<Executor>, Executor, execution::blocking_adaptation_t> {
    using base = executor_around<adaptable_executor, Executor, execution::blocking_adaptation_t>;
    friend base;

public:
    explicit adaptable_executor(Executor const& e) : base(e) {}

    template <class F> void execute(F&& f) const { exec::execute_on(this->inner(), std::forward<F>(f)); }

    using base::query;
    using base::require;
    Executor require(execution::blocking_adaptation_t::disallowed_t) const { return this->inner(); }
    static constexpr execution::blocking_adaptation_t query(execution::blocking_adaptation_t) noexcept {
        return execution::blocking_adaptation.allowed;
    }

private:
    template <class E> static auto around(E const& e) { return adaptable_executor<E>(e); }
};

/// One that waits for what it gives to the executor inside.
template <class Executor> class waiting_executor
    : public executor_around<waiting_executor<Executor>, Executor, execution::blocking_t> {
    using base = executor_around<waiting_executor, Executor, execution::blocking_t>;
    friend base;

public:
    explicit waiting_executor(Executor const& e) : base(e) {}

    template <class F> void execute(F&& f) const {
        std::decay_t<F> function(std::forward<F>(f));
        if (this->running_in_this_thread())
            std::move(function)();
        else
            exec::call_and_wait(function, [this](auto call) { exec::execute_on(this->inner(), std::move(call)); });
    }

    using base::query;
    using base::require;
    /// A caller that need not wait gets the executor inside.
    template <std::convertible_to<execution::blocking_t> P>
        requires can_require_v<Executor const&, P>
    auto require(P const& p) const {
        return fairlead::require(this->inner(), p);
    }
    static constexpr execution::blocking_t query(execution::blocking_t) noexcept { return execution::blocking.always; }

private:
    template <class E> static auto around(E const& e) { return waiting_executor<E>(e); }
};

template <execution::executor E> struct built_in_require<E, execution::blocking_adaptation_t::allowed_t> {
    static auto take(E const& e, execution::blocking_adaptation_t::allowed_t) { return adaptable_executor<E>(e); }
};
template <execution::executor E>
    requires has_property_by_type<E, execution::blocking_adaptation_t::allowed_t>
struct built_in_require<E, execution::blocking_t::always_t> {
    static auto take(E const& e, execution::blocking_t::always_t) { return waiting_executor<E>(e); }
};

} // namespace impl::legacy
} // namespace fairlead
