// A primitive with a time limit. The limit lies in the op's own record and cancels the op in place. It is no second op,
// and an await with a limit takes no block.
#pragma once

#include <fairlead/io/io_loop.hpp>
#include <fairlead/operation/initiate.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace fairlead::impl::net {

template <class Record> struct limited_record : Record, io::op_limit {};

/// Primitives whose object keeps the limits of all its operations. They are told theirs.
template <class Init, class When>
concept limits_itself = operation::primitive_initiation<Init> && requires(Init& i, When const& w, cancellation_type t) {
    { i.limit_to(w.duration, t) } noexcept;
};

/// Primitives that a limit of the kind `When` can be put around. Those that cannot, and generic operations, are given a
/// slot and a timer (limited_operation).
template <class Init, class When>
concept limitable = operation::primitive_initiation<Init> && operation::cancellable_record<typename Init::record> &&
                    !operation::takes_here<Init> && !std::is_base_of_v<io::op_limit, typename Init::record> &&
                    await_record::fits<limited_record<typename Init::record>> && requires(When const& w, io_loop& l) {
                        { w.deadline_ns(l) } noexcept;
                    };

template <class Init, class When> struct limited_primitive
    : operation::extended_primitive<limited_primitive<Init, When>, Init, limited_record<typename Init::record>> {
    using base =
        operation::extended_primitive<limited_primitive<Init, When>, Init, limited_record<typename Init::record>>;
    using base::inner;
    using typename base::record;

    When when;
    std::uint8_t types;

    limited_primitive(Init&& i, When w, cancellation_type type)
        : base(std::move(i)),
          when(w),
          types(static_cast<std::uint8_t>(type)) {}

    /// An op that has to wait has a limit from here on. The limit lies in the heap while the op is with the driver:
    /// both change hands at once, or not at all.
    void submit(record& o) const noexcept {
        auto& home = io_loop::of(*inner.home());
        io::op_limit& limit = o;
        limit.types = types;
        limit.expire = &expire;
        auto const deadline = when.deadline_ns(home);
        home.as_owner([&]() noexcept {
            bool const armed = home.arm(limit, deadline);
            inner.submit(o);
            if (!armed) // A limit that there was no memory for ends the operation at once, rather than never.
                expire(limit, home);
        });
    }
    static void completed(record& o) noexcept {
        io_loop::of(*exec::this_thread.current).disarm(static_cast<io::op_limit&>(o));
        if constexpr (requires { Init::completed(o); })
            Init::completed(o);
    }

private:
    static void expire(io::op_limit& limit, io_loop& home) noexcept {
        auto& o = static_cast<record&>(limit);
        auto const how = cancellation_of(o, home);
        if (!!(how.accepts & limit.type()))
            how.end(o);
    }
};

} // namespace fairlead::impl::net
