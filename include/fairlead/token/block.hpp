// block: perform the operation in the calling thread and return its result. block[ec]: the error into ec.
#pragma once

#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/initiate.hpp>
#include <fairlead/operation/wait_for.hpp>

#include <concepts>
#include <exception>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead {

/// Token: the initiating function waits and returns the result (P0055R1). No loop need run. Operations of the
/// library are done in the calling thread, and no loop is used. Any other operation is started. The calling thread then
/// runs the loops that it is handed to, unless other threads are inside their run(). Not to be called inside a loop's
/// thread (resource_deadlock_would_occur).
struct block_t {
    struct with_error {
        error_code& ec;
    };
    constexpr block_t() noexcept = default;
    with_error operator[](error_code& ec) const noexcept { return {ec}; }
};
/// `auto n = socket.async_read_some(buf, block);`, or `block[ec]`.
inline constexpr block_t block{};

namespace impl::token {

inline void refuse_inside_loop() {
    if (exec::this_thread.current)
        base::throw_error_now(base::code_of(std::errc::resource_deadlock_would_occur),
                              "block inside a thread that runs a loop");
}

/// Throws the error of an operation with its name.
template <class Initiation> struct blocking_call {
    Initiation const& initiation;
    [[noreturn]] FAIRLEAD_COLD void raise(error_code const& ec) const {
        base::throw_error_now(ec, operation::describe_failed_call(initiation, "block").c_str());
    }
};

/// Primitives whose text of an error is in the op that has failed.
template <class Init>
concept described_by_op =
    operation::primitive_initiation<Init> && !operation::needs_extra_bytes<Init> && !Init::drops &&
    std::is_trivially_copyable_v<typename Init::record> && requires(Init const& i, typename Init::record const& r) {
        { i.describe(r) } -> std::same_as<std::string>;
    };

/// Such a primitive, which stays with the caller. It completes with its op.
template <class Init> struct primitive_in_place : operation::primitive<primitive_in_place<Init>> {
    using record = typename Init::record;
    using signature = void(record);

    Init const* init;

    explicit primitive_in_place(Init const& i) noexcept : init(&i) {}
    loop* home() const noexcept { return init->home(); }
    void prepare(record& o) const noexcept { init->prepare(o); }
    void submit(record& o) const noexcept { init->submit(o); }
    static std::tuple<record> take(record& o) noexcept { return std::tuple<record>(o); }
};

template <class Init> struct failed_primitive {
    Init const& init;
    typename Init::record const& op;
    [[noreturn]] FAIRLEAD_COLD void raise(error_code const& ec) const {
        base::throw_error_now(ec, init.describe(op).c_str());
    }
};

template <class Values, class Init> auto block_on(Init const& init) {
    auto done = operation::wait_for<std::tuple<typename Init::record>>(primitive_in_place<Init>(init));
    auto& op = std::get<0>(done);
    auto values = [&]() -> Values {
        if constexpr (operation::takes_here<Init>)
            return init.take_here(op);
        else
            return Init::take(op);
    };
    return operation::unwrap(values(), failed_primitive<Init>{init, op});
}

/// Returns what perform(why) returns, or throws the exception that the operation has given to it.
template <class Perform> auto rethrown(Perform&& perform) {
    std::exception_ptr why;
    auto values = perform(&why);
    if (why)
        std::rethrow_exception(std::move(why));
    return values;
}

/// The operation of an async_op may be one that has to be started.
template <class Values, class Init> Values perform_or_throw(Init& i) {
    if constexpr (requires(std::exception_ptr* why) { i.block(why); })
        return rethrown([&i](std::exception_ptr* why) { return i.block(why); });
    else
        return operation::perform_blocking<Values>(i);
}

template <class Signature, class Initiation> operation::values_of<Signature> perform(Initiation&& initiation) {
    using init = std::decay_t<Initiation>;
    if constexpr (operation::can_block<init, operation::values_of<Signature>>) {
        init i(std::forward<Initiation>(initiation));
        return operation::perform_blocking<operation::values_of<Signature>>(i);
    } else {
        return operation::wait_for<operation::values_of<Signature>>(std::forward<Initiation>(initiation));
    }
}

} // namespace impl::token

template <class Signature> class async_result<block_t, Signature> {
public:
    template <class Initiation> static auto initiate(Initiation&& initiation, block_t) {
        using init = std::decay_t<Initiation>;
        using values = impl::operation::values_of<Signature>;
        impl::token::refuse_inside_loop();
        if constexpr (impl::operation::can_block<init, values>) {
            init i(std::forward<Initiation>(initiation));
            return impl::operation::unwrap(impl::token::perform_or_throw<values>(i),
                                           impl::token::blocking_call<init>{i});
        } else if constexpr (impl::token::described_by_op<init>) {
            init const i(std::forward<Initiation>(initiation));
            return impl::token::block_on<values>(i);
        } else { // It is gone when it has failed.
            auto const name = impl::operation::describe_call(initiation, "block");
            return impl::operation::unwrap(impl::token::rethrown([&](std::exception_ptr* why) {
                                               return impl::operation::wait_for<values>(
                                                   std::forward<Initiation>(initiation), why);
                                           }),
                                           impl::operation::named_call{name});
        }
    }
};

template <class R, class... Args> class async_result<block_t::with_error, R(Args...)> {
    template <class... Rest> static auto rest_of(error_code& ec, std::tuple<error_code, Rest...>&& v) {
        ec = std::get<0>(v);
        return std::apply(
            [](error_code&, Rest&... rest) {
                return impl::operation::unwrap_rest(std::tuple<Rest...>(std::move(rest)...));
            },
            v);
    }
    template <class T> static T no_value() {
        if constexpr (std::default_initializable<T>)
            return T{};
        else
            std::terminate(); // refuse_inside_loop() has thrown
    }
    template <class... All> static auto rest_of(error_code& ec, std::tuple<All...>&& v) {
        ec = {};
        return impl::operation::unwrap_rest(std::move(v));
    }

public:
    template <class Initiation> static auto initiate(Initiation&& initiation, block_t::with_error t) {
        if (impl::exec::this_thread.current) {
            using rest = decltype(rest_of(t.ec, std::declval<impl::operation::values_of<R(Args...)>>()));
            if constexpr (std::is_void_v<rest>) {
                t.ec = impl::base::code_of(std::errc::resource_deadlock_would_occur);
                return;
            } else {
                if constexpr (!std::default_initializable<rest>)
                    impl::token::refuse_inside_loop(); // There is no value to return: this throws.
                else
                    t.ec = impl::base::code_of(std::errc::resource_deadlock_would_occur);
                return no_value<rest>();
            }
        } else {
            return rest_of(t.ec, impl::token::perform<R(Args...)>(std::forward<Initiation>(initiation)));
        }
    }
};

} // namespace fairlead
