// The operations of a byte_stream as primitives. Those of a socket go straight to the driver, as the socket's own do.
#pragma once

#include <fairlead/net/byte_stream.hpp>
#include <fairlead/net/slice_list.hpp>

#include <string>
#include <tuple>

namespace fairlead::impl::net {

/// How such an op is asked to end early. Its stream may have gone: a socket is known to the driver, and an op that is
/// pending elsewhere keeps its stream.
struct stream_canceller {
    io_loop* engine;
    cancellation_type accepts;
    void request(op& o) const noexcept {
        auto& pending = static_cast<stream_op&>(o);
        if (pending.is_socket)
            engine->ask(pending.handle, o);
        else if (pending.holds)
            pending.of->cancel(pending);
    }
    void end(stream_op& o) const noexcept {
        if (o.is_socket)
            engine->reactor().cancel(o);
        else if (o.holds)
            o.of->cancel(o);
    }
};
inline stream_canceller cancellation_of(stream_op& o, loop& home) noexcept {
    // Only those that move some bytes, or none, have had no effect until they complete.
    bool const is_some =
        o.verb == stream_verb::read ? o.kind == io::kind::receive : o.is_socket && o.kind == io::kind::send;
    auto const some = cancellation_type::terminal | cancellation_type::partial;
    return {&io_loop::of(home), is_some ? some | cancellation_type::total : some};
}

/// Common to all. `Values` depends on nothing: see any_transfer.
template <class Derived, class Signature> struct stream_primitive : operation::primitive<Derived> {
    using signature = Signature;
    using record = stream_op;
    using values = operation::values_of<Signature>;
    static constexpr bool drops = true;

    byte_stream* of;
    io_loop* engine; ///< the stream may go before its operations do

    explicit stream_primitive(byte_stream& s) noexcept : of(&s), engine(&s.engine()) {}
    loop* home() const noexcept { return engine; }
    void submit(stream_op& o) const noexcept {
        if (o.is_socket)
            return engine->submit(o);
        o.holds = true;
        of->retain();
        of->submit(o);
    }
    static values take(stream_op& o) noexcept {
        if constexpr (std::tuple_size_v<values> == 2)
            return {o.error(), o.result.n};
        else
            return {o.error()};
    }
    /// "write of TLS", also when the stream has gone.
    std::string describe(stream_op const& o) const {
        char const* const name = name_of(o.verb);
        return o.is_socket ? text_of_failed(name, o.kind, *engine, o.handle) : std::string(name) + o.layer;
    }
    static void completed(stream_op& o) noexcept { drop(o); }
    static void drop(stream_op& o) noexcept {
        if (std::exchange(o.holds, false))
            o.of->release();
    }
    void block(values& v) const {
        operation::settle_to_perform(static_cast<Derived const&>(*this));
        stream_op o;
        static_cast<Derived const&>(*this).prepare(o);
        if (o.is_socket)
            engine->descriptors().perform(o, !of->socket()->user_non_blocking);
        else
            of->perform(o);
        v = take(o);
    }
};

/// The verb of a transfer of this kind.
constexpr stream_verb verb_of(io::kind k) noexcept { return io::is_write(k) ? stream_verb::write : stream_verb::read; }

/// Reads and writes.
template <class Derived> struct any_stream_transfer : stream_primitive<Derived, stream_signature> {
    using base = stream_primitive<Derived, stream_signature>;
    using base::engine;
    using base::of;

    using base::describe;

    io::kind kind;

    any_stream_transfer(byte_stream& s, io::kind k) noexcept : base(s), kind(k) {}
    bool ready() const noexcept {
        if (auto* const s = of->socket())
            return engine->reactor().ready(s->handle, kind, static_cast<Derived const&>(*this).size_to_move());
        return of->tries() && kind == io::kind::receive;
    }
    bool attempt(stream_op& o) const noexcept { return o.is_socket ? engine->reactor().try_now(o) : of->try_now(o); }
    std::string describe() const { return name_of_kind(kind); }
};

/// With one buffer.
struct stream_transfer : any_stream_transfer<stream_transfer> {
    void* data;
    std::size_t size;

    stream_transfer(byte_stream& s, io::kind k, void* d, std::size_t n) noexcept
        : any_stream_transfer(s, k),
          data(d),
          size(n) {}
    void prepare(stream_op& o) const noexcept { o.begin(*of, verb_of(kind), kind, data, size); }
    std::size_t size_to_move() const noexcept { return size; }
};
static_assert(sizeof(stream_transfer) <= async_op<stream_signature>::storage_size);

/// With several.
struct stream_sequence : any_stream_transfer<stream_sequence>, with_slices<stream_sequence> {
    slice_list slices;

    template <class Buffers> stream_sequence(byte_stream& s, io::kind k, Buffers const& buffers) noexcept
        : any_stream_transfer(s, k),
          slices(buffers) {}
    void prepare(stream_op& o) const noexcept { set(o, slices.data()); }
    std::size_t extra_bytes() const noexcept { return slices.bytes(); }
    void prepare(stream_op& o, void* extra) const noexcept {
        slices.copy_to(extra);
        set(o, extra);
    }
    std::size_t size_to_move() const noexcept { return slices.size(); }

private:
    void set(stream_op& o, void* all) const noexcept {
        o.begin(*of, verb_of(kind), kind, nullptr, 0);
        slices.set(o, all);
    }
};

/// Says that no more will be written.
struct stream_shutdown : stream_primitive<stream_shutdown, error_signature> {
    stream_verb verb;

    explicit stream_shutdown(byte_stream& s, stream_verb v = stream_verb::shutdown) noexcept
        : stream_primitive(s),
          verb(v) {}
    void prepare(stream_op& o) const noexcept {
        o.begin(*of, verb, io::kind::send_all, nullptr, 0);
        if (o.is_socket)
            if (auto const ec = of->socket()->shutdown(socket_base::shutdown_send))
                o.fail(ec);
    }
    void submit(stream_op& o) const noexcept {
        if (o.is_socket)
            engine->post(o);
        else
            stream_primitive::submit(o);
    }
    void block(values& v) const {
        stream_op o;
        prepare(o);
        if (!o.is_socket)
            of->perform(o);
        v = take(o);
    }
    using stream_primitive::describe;
    std::string describe() const { return name_of(verb); }
};

/// Chooses at compile time between one buffer and several.
template <class Buffers> auto make_stream_transfer(byte_stream& s, io::kind k, Buffers const& buffers) noexcept {
    if constexpr (base::is_single_buffer<Buffers>) {
        auto const b = base::single_buffer<const_buffer>(buffers);
        return stream_transfer(s, k, const_cast<void*>(b.data()), b.size());
    } else {
        return stream_sequence(s, k, buffers);
    }
}

} // namespace fairlead::impl::net
