// execution::any_executor: any executor behind one type, with properties that its user names.
//
// Inside is an any_io_executor, which does everything but properties. Beside it is a table of the named properties for
// its target.
#pragma once

#include <fairlead/exec/executor.hpp>
#include <fairlead/legacy/inline_properties.hpp>
#include <fairlead/legacy/prefer_only.hpp>
#include <fairlead/legacy/with_properties.hpp>

#include <concepts>
#include <cstddef>
#include <new>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace fairlead {

namespace execution {
template <class... Properties> class any_executor;
}

namespace impl::legacy {

template <class T> inline constexpr bool is_any_executor = false;
template <class... P> inline constexpr bool is_any_executor<execution::any_executor<P...>> = true;

template <class P>
concept requirable_property = requires { requires(bool(P::is_requirable)); };
template <class P>
concept preferable_property = requires { requires(bool(P::is_preferable)); };
template <class P>
concept has_polymorphic_result = requires { typename P::polymorphic_query_result_type; } &&
                                 !std::is_void_v<typename P::polymorphic_query_result_type>;

template <class P> struct polymorphic_result {
    using type = std::nullptr_t;
};
template <has_polymorphic_result P> struct polymorphic_result<P> {
    using type = typename P::polymorphic_query_result_type;
};

/// Whether E can be the target of an any_executor with the property.
template <class E, class P> inline constexpr bool supports_property =
    (!requirable_property<P> || can_require_v<E const&, P>) && (!preferable_property<P> || can_prefer_v<E const&, P>) &&
    (requirable_property<P> || preferable_property<P> || can_query_v<E const&, P>);

/// The functions of a named property for one type of target, which lies in an any_io_executor, or is one.
template <class Any, class P> struct functions_of_property {
    using result = typename polymorphic_result<P>::type;
    result (*query)(any_io_executor const&, P const&);
    Any (*require)(any_io_executor const&, P const&);
    Any (*prefer)(any_io_executor const&, P const&);
};
template <class Any, class... P> struct functions_of_properties {
    /// Without the any_executors with other properties that are around it.
    any_io_executor const& (*innermost)(any_io_executor const&) noexcept;
    std::tuple<functions_of_property<Any, P>...> each;
};

template <class Any, class E> struct any_executor_table {
    static E const& in(any_io_executor const& base) noexcept {
        if constexpr (std::same_as<E, any_io_executor>)
            return base;
        else
            return *base.template target<E>();
    }
    static any_io_executor const& innermost(any_io_executor&&) = delete;
    static any_io_executor const& innermost(any_io_executor const& base) noexcept {
        if constexpr (is_any_executor<E>)
            return in(base).innermost();
        else
            return base;
    }
    template <class P> static auto query(any_io_executor const& base, [[maybe_unused]] P const& p) ->
        typename polymorphic_result<P>::type {
        using result = typename polymorphic_result<P>::type;
        if constexpr (has_polymorphic_result<P> && can_query_v<E const&, P>)
            return static_cast<result>(fairlead::query(in(base), p));
        else if constexpr (std::default_initializable<result>)
            return result();
        else
            throw bad_executor();
    }
    template <class P> static Any require(any_io_executor const& base, [[maybe_unused]] P const& p) {
        if constexpr (requirable_property<P>)
            return Any(fairlead::require(in(base), p));
        else
            throw bad_executor();
    }
    template <class P> static Any prefer(any_io_executor const& base, [[maybe_unused]] P const& p) {
        if constexpr (preferable_property<P>)
            return Any(fairlead::prefer(in(base), p));
        else
            throw bad_executor();
    }
    template <class... P> static constexpr functions_of_properties<Any, P...> functions{
        &innermost, {functions_of_property<Any, P>{&query<P>, &require<P>, &prefer<P>}...}};
};

/// The first of the named properties that a question is about, or as many as there are.
template <class... Fits> consteval std::size_t first_that(Fits... fits) {
    bool const all[] = {static_cast<bool>(fits)..., true};
    std::size_t i = 0;
    while (!all[i])
        ++i;
    return i;
}

template <class Asked, class P> inline constexpr bool answers =
    has_polymorphic_result<P> &&
    (std::convertible_to<Asked const&, P> || (std::same_as<Asked, execution::context_t> && is_context_property<P>));
template <class Asked, class... P> struct answering_property {};
template <class Asked, class... P>
    requires(answers<Asked, P> || ...)
struct answering_property<Asked, P...> {
    static constexpr std::size_t index = first_that(answers<Asked, P>...);
    using type = std::tuple_element_t<index, std::tuple<P...>>;
    using result = typename polymorphic_result<type>::type;
};
template <class Asked, class P> inline constexpr bool requires_same =
    requirable_property<P> && std::convertible_to<Asked const&, P>;
template <class Asked, class P> inline constexpr bool prefers_same =
    preferable_property<P> && std::convertible_to<Asked const&, P>;

} // namespace impl::legacy

template <class... P> inline constexpr bool impl::exec::always_loop<execution::any_executor<P...>> = false;

namespace execution {

/// Any executor that has the `Properties`, or none. A property that can be required or preferred can be required or
/// preferred of it. One with a polymorphic_query_result_type can be queried. Properties of users are named like those
/// of the library.
/// A moved-from any_executor is empty. Empty, it throws bad_executor when it is used.
/// Threads    as the executor inside
/// Allocates  as any_io_executor, which it contains; made of an any_executor with other properties, one block
template <class... Properties> class any_executor {
    using functions_type = impl::legacy::functions_of_properties<any_executor, Properties...>;

public:
    any_executor() noexcept = default;
    any_executor(std::nullptr_t) noexcept {}
    any_executor(any_executor const&) noexcept = default;
    any_executor(any_executor&& other) noexcept
        : base_(std::exchange(other.base_, nullptr)),
          functions_(std::exchange(other.functions_, nullptr)) {}
    template <class E>
        requires(!std::derived_from<std::decay_t<E>, any_executor> && execution::executor<std::decay_t<E>> &&
                 (impl::legacy::supports_property<std::decay_t<E>, Properties> && ...))
    any_executor(E&& e) {
        set(std::forward<E>(e));
    }
    any_executor(std::nothrow_t, any_executor const& other) noexcept : any_executor(other) {}
    any_executor(std::nothrow_t, any_executor&& other) noexcept : any_executor(std::move(other)) {}
    /// Empty when there is no memory for an executor that does not fit.
    template <class E>
        requires(!std::derived_from<std::decay_t<E>, any_executor> && std::constructible_from<any_executor, E>)
    any_executor(std::nothrow_t, E&& e) noexcept {
        try {
            *this = any_executor(std::forward<E>(e));
        } catch (std::bad_alloc const&) { // empty, as said
        }
    }
    any_executor& operator=(any_executor const&) noexcept = default;
    any_executor& operator=(any_executor&& other) noexcept {
        base_ = std::exchange(other.base_, nullptr);
        functions_ = std::exchange(other.functions_, nullptr);
        return *this;
    }
    any_executor& operator=(std::nullptr_t) noexcept { return *this = any_executor(); }
    ~any_executor() = default;

    void swap(any_executor& other) noexcept { std::swap(*this, other); }

    explicit operator bool() const noexcept { return functions_ != nullptr; }
    operator any_io_executor() const noexcept { return innermost(); }

    /// Throws bad_executor when the executor inside has none.
    execution_context& context() const { return innermost().context(); }
    template <class F> void execute(F&& f) const { innermost().execute(std::forward<F>(f)); }
    template <class F> void queue(F&& f) const { innermost().queue(std::forward<F>(f)); }
    void dispatch_op(impl::exec::op_function f) const { innermost().dispatch_op(std::move(f)); }
    void on_work_started() const noexcept { innermost().on_work_started(); }
    void on_work_finished() const noexcept { innermost().on_work_finished(); }
    bool running_in_this_thread() const noexcept { return innermost().running_in_this_thread(); }
    loop* native_loop() const noexcept { return innermost().native_loop(); }

    std::type_info const& target_type() const noexcept { return innermost().target_type(); }
    template <class E> E const* target() const noexcept { return innermost().template target<E>(); }

    /// For fairlead::require, prefer and query.
    template <class P>
        requires(impl::legacy::requires_same<P, Properties> || ...)
    any_executor require(P const& p) const {
        return entry<impl::legacy::first_that(impl::legacy::requires_same<P, Properties>...)>().require(base_, p);
    }
    template <class P>
        requires(impl::legacy::prefers_same<P, Properties> || ...)
    any_executor prefer(P const& p) const {
        return entry<impl::legacy::first_that(impl::legacy::prefers_same<P, Properties>...)>().prefer(base_, p);
    }
    template <class P>
        requires(impl::legacy::answers<P, Properties> || ...)
    auto query(P const& p) const -> typename impl::legacy::answering_property<P, Properties...>::result {
        using named = typename impl::legacy::answering_property<P, Properties...>::type;
        constexpr auto index = impl::legacy::answering_property<P, Properties...>::index;
        if constexpr (std::convertible_to<P const&, named>)
            return entry<index>().query(base_, p);
        else
            return entry<index>().query(base_, named()); // The context, by the name that it has here.
    }

    // As any_io_executor's, of this type and without conversions.
    template <std::same_as<any_executor> A, std::same_as<any_executor> B>
    friend bool operator==(A const& a, B const& b) noexcept {
        return a.innermost() == b.innermost();
    }
    template <std::same_as<any_executor> A, std::same_as<std::nullptr_t> Null>
    friend bool operator==(A const& a, Null) noexcept {
        return !a;
    }
    template <std::same_as<any_executor> A, class E>
        requires(!std::same_as<E, any_executor> && !std::is_null_pointer_v<E> &&
                 std::convertible_to<E const&, any_executor>)
    friend bool operator==(A const& a, E const& e) {
        return a == any_executor(e);
    }

private:
    template <class, class> friend struct impl::legacy::any_executor_table;

    template <class E> void set(E&& e) {
        using target = std::decay_t<E>;
        if constexpr (std::derived_from<target, any_io_executor>) {
            set_functions_for<any_io_executor>(e);
        } else {
            if constexpr (impl::legacy::is_any_executor<target>)
                if (!e)
                    return;
            if constexpr (requires { e.plain(); }) // any_io_executor would keep that.
                if (auto const* const plain = e.plain())
                    return set(*plain);
            set_functions_for<target>(any_io_executor(impl::exec::any_executor_at_all(), std::forward<E>(e)));
        }
    }
    template <class E> void set_functions_for(any_io_executor const& e) noexcept {
        base_ = e;
        if (base_)
            functions_ = &impl::legacy::any_executor_table<any_executor, E>::template functions<Properties...>;
    }
    any_io_executor const& innermost() const noexcept { return functions_ ? functions_->innermost(base_) : base_; }
    template <std::size_t Index> auto const& entry() const {
        if (!functions_)
            throw bad_executor();
        return std::get<Index>(functions_->each);
    }

    any_io_executor base_;
    functions_type const* functions_ = nullptr;
};

/// As the member.
template <class... P> void swap(any_executor<P...>& a, any_executor<P...>& b) noexcept { a.swap(b); }

} // namespace execution
} // namespace fairlead
