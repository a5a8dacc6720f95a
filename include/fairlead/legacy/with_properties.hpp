// Executors of the library with other properties than they have of themselves, and what require, prefer and query
// answer for them.
#pragma once

#include <fairlead/base/allocator_traits.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/exec/waited_call.hpp>
#include <fairlead/legacy/allocated_function_op.hpp>
#include <fairlead/legacy/context_property.hpp>
#include <fairlead/legacy/properties.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace fairlead {
template <class Executor> class strand;
}

namespace fairlead::impl::legacy {

/// The properties of an executor that can be changed, as each executor of the library has them of itself: execute()
/// never runs inside the call.
struct executor_properties {
    execution::blocking_t blocking = execution::blocking.never;
    execution::relationship_t relationship = execution::relationship.fork;
    execution::outstanding_work_t work = execution::outstanding_work.untracked;

    constexpr void set(execution::blocking_t b) noexcept { blocking = b; }
    constexpr void set(execution::relationship_t r) noexcept { relationship = r; }
    constexpr void set(execution::outstanding_work_t w) noexcept { work = w; }
    constexpr auto get(execution::blocking_t) const noexcept { return blocking; }
    constexpr auto get(execution::relationship_t) const noexcept { return relationship; }
    constexpr auto get(execution::outstanding_work_t) const noexcept { return work; }
    friend constexpr bool operator==(executor_properties const&, executor_properties const&) noexcept = default;
};

template <class P>
concept changeable_property = requires(executor_properties& all, P const& p) { all.set(p); };

template <class T> inline constexpr bool is_allocator_property = false;
template <class A> inline constexpr bool is_allocator_property<execution::allocator_t<A>> = true;

/// One whose threads can be waited for from outside.
template <class E>
concept waitable_executor = requires { requires(E::can_be_waited_for); };

/// One or two pointers larger than `Executor`. Copies count as work each if one does.
template <class Executor, class Allocator = void> class with_properties {
public:
    using takes_properties = void;
    static constexpr bool can_be_waited_for = waitable_executor<Executor>;

    with_properties(Executor const& e, executor_properties const& p, execution::allocator_t<Allocator> const& a)
        : executor_(e),
          properties_(p),
          allocator_(a) {
        start();
    }
    with_properties(with_properties const& other)
        : with_properties(other.executor_, other.properties_, other.allocator_) {}
    with_properties& operator=(with_properties const& other) {
        with_properties copy(other);
        std::swap(executor_, copy.executor_);
        std::swap(properties_, copy.properties_);
        std::swap(allocator_, copy.allocator_);
        return *this;
    }
    ~with_properties() {
        if (is_tracked())
            executor_.on_work_finished();
    }

    decltype(auto) context() const { return executor_.context(); }
    loop* native_loop() const noexcept
        requires exec::has_loop<Executor>
    {
        return executor_.native_loop();
    }
    bool running_in_this_thread() const noexcept { return exec::runs_here(executor_); }
    void on_work_started() const noexcept { executor_.on_work_started(); }
    void on_work_finished() const noexcept { executor_.on_work_finished(); }

    /// Runs f() as the property `blocking` says. With blocking.always, what f() throws leaves this call, which also
    /// returns when the context has given f up.
    template <class F> void execute(F&& f) const {
        if (properties_.blocking != execution::blocking.never && exec::runs_here(executor_)) {
            std::decay_t<F> function(std::forward<F>(f));
            std::move(function)();
        } else if (properties_.blocking == execution::blocking.always) {
            std::decay_t<F> function(std::forward<F>(f));
            exec::call_and_wait(function, [this](auto call) { this->queue(std::move(call)); });
        } else {
            queue(std::forward<F>(f));
        }
    }
    /// Runs f(), never inside this call.
    template <class F> void queue(F&& f) const {
        using function = std::decay_t<F>;
        if constexpr (std::is_void_v<Allocator> || std::same_as<function, exec::op_function>)
            executor_.execute(std::forward<F>(f));
        else
            executor_.execute(exec::op_function(
                *allocated_function_op<function, Allocator>::make(std::forward<F>(f), allocator_.value())));
    }

    with_properties never_inline() const {
        auto p = properties_;
        p.set(execution::blocking.never);
        return with_properties(executor_, p, allocator_);
    }

    Executor const& inner() const noexcept { return executor_; }
    executor_properties const& properties() const noexcept { return properties_; }
    execution::allocator_t<Allocator> const& allocator() const noexcept { return allocator_; }
    /// The executor itself when this one does not differ from it.
    Executor const* plain() const noexcept {
        return std::is_void_v<Allocator> && properties_ == executor_properties() ? &executor_ : nullptr;
    }

    friend bool operator==(with_properties const& a, with_properties const& b) noexcept {
        if constexpr (!std::is_void_v<Allocator>)
            if (!(a.allocator_.value() == b.allocator_.value()))
                return false;
        return a.executor_ == b.executor_ && a.properties_ == b.properties_;
    }
    template <std::same_as<Executor> E> friend bool operator==(with_properties const& a, E const& b) noexcept {
        auto const* const plain = a.plain();
        return plain && *plain == b;
    }

private:
    bool is_tracked() const noexcept { return properties_.work == execution::outstanding_work.tracked; }
    void start() const noexcept {
        if (is_tracked())
            executor_.on_work_started();
    }

    Executor executor_; // First: any_io_executor finds the loop in here.
    executor_properties properties_;
    [[no_unique_address]] execution::allocator_t<Allocator> allocator_;
};

template <class E> struct plain_executor {
    using allocator_type = void;
    using with = with_properties<E>;
    static E const& inner(E const& e) noexcept { return e; }
    static E const& inner(E&&) = delete;
    static executor_properties properties(E const&) noexcept { return {}; }
    static auto const& allocator(E const&) noexcept { return execution::allocator; }
};
template <class E, class A> struct plain_executor<with_properties<E, A>> {
    using allocator_type = A;
    using with = with_properties<E, A>;
    static E const& inner(with const& e) noexcept { return e.inner(); }
    static executor_properties properties(with const& e) noexcept { return e.properties(); }
    static auto const& allocator(with const& e) noexcept { return e.allocator(); }
};

/// Whether an executor of this type has the property in any case.
template <class E, class P> consteval bool is_always_so() {
    if constexpr (std::same_as<E, typename plain_executor<E>::with>)
        return false;
    else if constexpr (changeable_property<P>)
        return executor_properties().get(P()) == P();
    else
        return std::same_as<P, execution::allocator_t<void>>;
}

template <library_executor E, class P>
    requires(is_always_so<E, P>() || is_allocator_property<P> ||
             (changeable_property<P> && (waitable_executor<E> || !std::same_as<P, execution::blocking_t::always_t>)))
struct built_in_require<E, P> {
    static auto take(E const& e, [[maybe_unused]] P const& p) {
        using plain = plain_executor<E>;
        if constexpr (is_always_so<E, P>()) {
            return e;
        } else if constexpr (is_allocator_property<P>) {
            using allocator_type = typename allocator_of<P>::type;
            return with_properties<std::decay_t<decltype(plain::inner(e))>, allocator_type>(plain::inner(e),
                                                                                            plain::properties(e), p);
        } else {
            auto properties = plain::properties(e);
            properties.set(p);
            return typename plain::with(plain::inner(e), properties, plain::allocator(e));
        }
    }

private:
    template <class T> struct allocator_of;
    template <class A> struct allocator_of<execution::allocator_t<A>> {
        using type = A;
    };
};

template <library_executor E, class P>
    requires changeable_property<P> || is_allocator_property<P>
struct built_in_query<E, P> {
    static auto ask(E const& e, P const& p) noexcept {
        using plain = plain_executor<E>;
        if constexpr (changeable_property<P>)
            return plain::properties(e).get(p);
        else if constexpr (std::is_void_v<typename plain::allocator_type>)
            return std::allocator<void>();
        else
            return plain::allocator(e).value();
    }
};

/// Any other property is asked of the wrapped executor itself.
template <class E, class A, class P>
    requires(!changeable_property<P> && !is_allocator_property<P> && !is_context_property<P> &&
             answers_property<E const&, P>)
struct built_in_query<with_properties<E, A>, P> {
    static decltype(auto) ask(with_properties<E, A> const& e, P const& p) { return query(e.inner(), p); }
};

/// A property that a strand does not have itself is asked of the executor below.
template <class S>
concept is_strand =
    requires { typename S::inner_executor_type; } && std::derived_from<S, strand<typename S::inner_executor_type>>;
template <is_strand S, class P>
    requires(!changeable_property<P> && !is_allocator_property<P> && !is_context_property<P> &&
             answers_property<typename S::inner_executor_type const&, P>)
struct built_in_query<S, P> {
    static decltype(auto) ask(S const& s, P const& p) { return query(s.get_inner_executor(), p); }
};

} // namespace fairlead::impl::legacy

namespace fairlead::impl {
template <class E, class A> inline constexpr bool exec::begins_with_loop<legacy::with_properties<E, A>> =
    exec::begins_with_loop<E> && std::is_standard_layout_v<legacy::with_properties<E, A>>;
template <class E, class A> inline constexpr bool exec::always_loop<legacy::with_properties<E, A>> =
    exec::always_loop<E>;
template <class E, class A> struct exec::property_hook<legacy::with_properties<E, A>>
    : legacy::answers_of<legacy::with_properties<E, A>> {};
} // namespace fairlead::impl

namespace fairlead::impl::legacy {

constexpr exec::any_property number_of(execution::blocking_t::never_t) noexcept { return exec::any_property::never; }
constexpr exec::any_property number_of(execution::blocking_t::possibly_t) noexcept {
    return exec::any_property::possibly;
}
constexpr exec::any_property number_of(execution::outstanding_work_t::untracked_t) noexcept {
    return exec::any_property::untracked;
}
constexpr exec::any_property number_of(execution::outstanding_work_t::tracked_t) noexcept {
    return exec::any_property::tracked;
}
constexpr exec::any_property number_of(execution::relationship_t::fork_t) noexcept { return exec::any_property::fork; }
constexpr exec::any_property number_of(execution::relationship_t::continuation_t) noexcept {
    return exec::any_property::continuation;
}
template <class P>
concept property_of_any = requires(P const& p) { number_of(p); };

} // namespace fairlead::impl::legacy

namespace fairlead::impl {

/// The answers of an any_io_executor for the executor inside. An empty one throws bad_executor.
struct exec::properties_of_any {
    static any_io_executor require(any_io_executor const& e, execution::blocking_t::never_t) {
        return changed(e, exec::any_property::never);
    }
    template <legacy::property_of_any P> static any_io_executor prefer(any_io_executor const& e, P const& p) {
        return changed(e, legacy::number_of(p));
    }
    static execution_context& query(any_io_executor const& e, execution::context_t) { return e.context(); }
    template <legacy::changeable_property P> static auto query(any_io_executor const& e, P const& p) {
        return of(e).get(p);
    }

private:
    FAIRLEAD_EXPORT static legacy::executor_properties of(any_io_executor const& e);
    FAIRLEAD_EXPORT static any_io_executor changed(any_io_executor const& e, exec::any_property asked);
};

} // namespace fairlead::impl
