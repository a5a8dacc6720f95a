// Starting a primitive for an I/O object: its handler runs on the object's executor unless it names another one.
//
// Where that executor runs a loop of ours, which is the loop of the primitive, there is nothing to do. The type of the
// executor says so, or the object knows it since it was made (io/io_loop_for.hpp): that costs one test. Everywhere else
// (a strand, a pool, an executor of the user's) the handler is given the executor.
#pragma once

#include <fairlead/base/maybe.hpp>
#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/copied_arguments.hpp>
#include <fairlead/operation/initiation_around.hpp>

#include <type_traits>
#include <utility>

namespace fairlead::impl::operation {

/// A handler at home with an object's executor.
template <class Handler, class Executor> class object_handler {
public:
    using executor_type = associated_executor_t<Handler, Executor>;

    object_handler(Handler&& h, Executor const& e) noexcept(std::is_nothrow_move_constructible_v<Handler>)
        : handler_(std::move(h)),
          executor_(e) {}
    Handler const& get() const noexcept { return handler_; }
    executor_type get_executor() const noexcept { return get_associated_executor(handler_, executor_); }
    template <class... Args> void operator()(Args&&... args) { std::move(handler_)(std::forward<Args>(args)...); }

private:
    Handler handler_;
    Executor executor_;
};

/// A primitive as a generic initiation.
template <class Primitive, class Executor> struct primitive_elsewhere : initiation_around<Primitive> {
    using initiation_around<Primitive>::initiation;
    static constexpr bool is_cancellable = can_be_cancelled<Primitive>();
    static constexpr bool only_queues = operation::only_queues<Primitive>;

    Executor executor;

    template <class Handler> void operator()(Handler&& handler) { start(std::forward<Handler>(handler)); }
    template <class Handler> void start(Handler&& handler) {
        initiation(object_handler<std::decay_t<Handler>, Executor>(
            std::decay_t<Handler>(std::forward<Handler>(handler)), executor));
    }
    Executor get_executor() const noexcept { return executor; }
    template <class Values> base::maybe<Values> try_step_as()
        requires tried_anywhere<Primitive>
    {
        typename Primitive::record o;
        initiation.prepare(o);
        if (!initiation.attempt(o))
            return {};
        return Values(Primitive::take(o));
    }
    template <class Values> Values block_as()
        requires can_block<Primitive, Values>
    {
        return perform_blocking<Values>(initiation);
    }
};

template <class Primitive> using elsewhere = primitive_elsewhere<Primitive, any_io_executor>;

// The functions of a primitive that is awaited, or whose handler is erased, do not depend on the program. The library
// has them compiled for the common ones (net/primitives.cpp). Given are the primitive and the arguments with which it
// completes, in the namespace impl. These are specialisations because clang hides instantiations, whatever their
// declaration says.
#define FAIRLEAD_COMPILED_PRIMITIVE(PRIMITIVE, ...)                                                                    \
    FAIRLEAD_COMPILED_TABLE(PRIMITIVE, __VA_ARGS__);                                                                   \
    FAIRLEAD_COMPILED_TABLE(operation::elsewhere<PRIMITIVE>, __VA_ARGS__);                                             \
    template <> template <>                                                                                            \
    FAIRLEAD_EXPORT void operation::elsewhere<PRIMITIVE>::operator()(operation::boxed_handler<__VA_ARGS__>&&)

/// An initiation that is given its handler erased: what a handler costs in code is not paid twice.
template <class Initiation, class Signature> struct erasing_initiation;
template <class Initiation, class R, class... Args> struct erasing_initiation<Initiation, R(Args...)> {
    static constexpr bool is_cancellable = can_be_cancelled<Initiation>();
    static constexpr bool only_queues = operation::only_queues<Initiation>;

    Initiation initiation;

    template <class Handler> void operator()(Handler&& handler) {
        using kept = std::decay_t<Handler>;
        kept h(std::forward<Handler>(handler));
        std::move(initiation)(boxed_handler<std::decay_t<Args>...>(handler_ref<std::decay_t<Args>...>{
            std::addressof(h), &erased_handler_table<kept, std::decay_t<Args>...>::functions}));
    }
    auto get_executor() const noexcept { return executor_of(initiation); }
};

/// Starts a primitive whose handler is given the executor of the object.
template <class Signature, class Object, class Token, class Primitive>
FAIRLEAD_ALWAYS_INLINE decltype(auto) initiate_elsewhere(Object const& object, Token&& token, Primitive&& primitive) {
    using initiation = primitive_elsewhere<std::decay_t<Primitive>, typename Object::executor_type>;
    if constexpr (completion_handler_for<std::decay_t<Token>, Signature>) // Other tokens may ask for the executor.
        return completion_token_transform<Signature>(
            std::forward<Token>(token),
            erasing_initiation<initiation, Signature>{{{std::forward<Primitive>(primitive)}, object.get_executor()}});
    else
        return completion_token_transform<Signature>(
            std::forward<Token>(token), initiation{{std::forward<Primitive>(primitive)}, object.get_executor()});
}
/// As initiate_elsewhere(), for a primitive that fits into registers. Inline it would copy the executor into the frame
/// of each coroutine that awaits in a loop (clang). A larger primitive lies in the frame when its address is passed on.
template <class Signature, class Object, class Token, class Primitive> FAIRLEAD_NOINLINE decltype(auto)
call_initiate_elsewhere(Object const& object, Token&& token,
                        Primitive primitive) noexcept(nothrow_token<std::decay_t<Token>, Primitive>) {
    return initiate_elsewhere<Signature>(object, std::forward<Token>(token), std::move(primitive));
}

template <class Primitive> inline constexpr bool fits_into_registers =
    std::is_trivially_copyable_v<Primitive> && sizeof(Primitive) <= 2 * sizeof(void*);
/// Tokens whose result is an async_op that holds the primitive itself.
template <class Token, class Primitive> inline constexpr bool keeps_primitive = false;
template <class Primitive> inline constexpr bool keeps_primitive<use_await_t, Primitive> =
    lies_inside<Primitive, storage_for<Primitive>()> && !fits_into_registers<Primitive>;
template <class Executor, class Primitive> inline constexpr bool keeps_primitive<use_awaitable_t<Executor>, Primitive> =
    keeps_primitive<use_await_t, Primitive>;
template <class Primitive> inline constexpr bool keeps_primitive<deferred_t, Primitive> =
    keeps_primitive<use_await_t, Primitive>;

/// Gives the primitive in `op` the executor of the object. The op has all that this needs. So a coroutine has no
/// temporary in its frame, where clang would put the arguments of another function.
template <class Primitive, class Op, class Object>
FAIRLEAD_NOINLINE void go_elsewhere(Op& op, Object const& object) noexcept {
    using initiation = primitive_elsewhere<Primitive, typename Object::executor_type>;
    initiation elsewhere{{std::move(*static_cast<Primitive*>(op_access::storage(op)))}, object.get_executor()};
    op.~Op();
    ::new (static_cast<void*>(std::addressof(op))) Op(std::move(elsewhere));
}

template <class Signature, class Object, class Primitive> FAIRLEAD_ALWAYS_INLINE async_op_of<Signature, Primitive>
keep_primitive(Object const& object,
               Primitive&& primitive) noexcept(std::is_nothrow_constructible_v<std::decay_t<Primitive>, Primitive>) {
    async_op_of<Signature, Primitive> op(std::forward<Primitive>(primitive));
    if (!object.runs_handlers()) [[unlikely]]
        go_elsewhere<std::decay_t<Primitive>>(op, object);
    return op;
}

/// Starts `primitive` for `object`. The object has an executor. It says by runs_handlers() whether a handler is on that
/// executor when it is called where its op completes.
template <class Signature, class Object, class Token, class Primitive> decltype(auto)
initiate_on(Object const& object, Token&& token,
            Primitive&& primitive) noexcept(nothrow_token<std::decay_t<Token>, std::decay_t<Primitive>>) {
    using primitive_type = std::decay_t<Primitive>;
    settle_copies<Token, Signature>(primitive);
    if constexpr (!token_check<std::decay_t<Token>, Signature>::valid) {
        return refused_token<Signature>();
    } else if constexpr (no_token<Token, Signature> && !own_overload::present<Token, Signature>) {
        static_assert(!sizeof(std::decay_t<Token>), FAIRLEAD_NO_TOKEN);
        return refused_token<Signature>();
    } else if constexpr (exec::always_loop<typename Object::executor_type>) {
        return completion_token_transform<Signature>(std::forward<Token>(token), std::forward<Primitive>(primitive));
    } else if constexpr (keeps_primitive<std::decay_t<Token>, primitive_type>) {
        return keep_primitive<Signature>(object, std::forward<Primitive>(primitive));
    } else {
        if (object.runs_handlers()) [[likely]]
            return completion_token_transform<Signature>(std::forward<Token>(token),
                                                         std::forward<Primitive>(primitive));
        if constexpr (fits_into_registers<primitive_type>)
            return call_initiate_elsewhere<Signature>(object, std::forward<Token>(token), primitive_type(primitive));
        else
            return initiate_elsewhere<Signature>(object, std::forward<Token>(token),
                                                 std::forward<Primitive>(primitive));
    }
}

} // namespace fairlead::impl::operation

namespace fairlead {

template <template <class, class> class A, class H, class E, class D>
    requires(!std::is_same_v<A<H, D>, associated_executor<H, D>>)
struct associator<A, impl::operation::object_handler<H, E>, D>
    : impl::operation::pass_on<A, impl::operation::object_handler<H, E>, H, D> {};

} // namespace fairlead
