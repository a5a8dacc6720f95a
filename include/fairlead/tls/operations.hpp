// The operations of a TLS stream as primitives: their ops lie in await records and blocks, as those of sockets do.
#pragma once

#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/initiate_on.hpp>
#include <fairlead/tls/below.hpp>
#include <fairlead/tls/context.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

struct ssl_st; // OpenSSL's SSL

namespace fairlead::ssl::impl {

class machine;

enum class verb : std::uint8_t { handshake, read, write, shutdown };

/// A pending operation of a stream.
struct tls_op : op {
    machine* of;
    void* data;
    std::size_t size;
    error_category const* category; ///< of result.error; null: the system's
    verb what;
    bool is_client; ///< a handshake
    bool is_sent;   ///< the machine has taken it: what is left is to write encrypted bytes

    tls_op() noexcept {}
    error_code error() const noexcept {
        return category ? error_code(result.error, *category) : fairlead::impl::operation::to_error_code(result.error);
    }
};

/// How such an op is asked to end early. Only a read has no effect until it completes.
struct tls_canceller {
    cancellation_type accepts;
    FAIRLEAD_EXPORT void request(op& o) const noexcept;
    void end(tls_op& o) const noexcept { request(o); }
};
inline tls_canceller cancellation_of(tls_op& o, loop&) noexcept {
    auto const some = cancellation_type::terminal | cancellation_type::partial;
    return {o.what == verb::read ? some | cancellation_type::total : some};
}

/// The half of a stream that no template parameter changes. It stays until the stream below has given back its ops.
class stream_core {
public:
    FAIRLEAD_EXPORT stream_core(context& c, std::unique_ptr<below> b);
    FAIRLEAD_EXPORT stream_core(ssl_st* s, std::unique_ptr<below> b);
    stream_core(stream_core&& other) noexcept : machine_(std::exchange(other.machine_, nullptr)) {}
    stream_core& operator=(stream_core&& other) noexcept {
        std::swap(machine_, other.machine_);
        return *this;
    }
    FAIRLEAD_EXPORT ~stream_core();

    FAIRLEAD_EXPORT io_loop& engine() const noexcept;
    FAIRLEAD_EXPORT ssl_st* native_handle() const noexcept;
    FAIRLEAD_EXPORT std::string_view alpn_protocol() const noexcept;
    FAIRLEAD_EXPORT bool is_resumed() const noexcept;
    FAIRLEAD_EXPORT void is_at(void* below) noexcept;
    FAIRLEAD_EXPORT error_code set_host_name(std::string const& name) noexcept;
    FAIRLEAD_EXPORT error_code set_verify_mode(verify_mode v) noexcept;
    FAIRLEAD_EXPORT error_code set_verify_depth(int depth) noexcept;
    FAIRLEAD_EXPORT error_code verify_with(verify_function f) noexcept;

    machine& pending() const noexcept { return *machine_; }
    FAIRLEAD_EXPORT static bool ready(machine& m) noexcept;
    FAIRLEAD_EXPORT static bool try_now(tls_op& o) noexcept;
    FAIRLEAD_EXPORT static void submit(tls_op& o) noexcept;
    FAIRLEAD_EXPORT static void perform(tls_op& o) noexcept;
    FAIRLEAD_EXPORT static loop& loop_of(machine const& m) noexcept;

private:
    machine* machine_;
};

/// Common to all. `Derived` names its verb.
template <class Derived, class Signature, verb Verb> struct tls_primitive
    : fairlead::impl::operation::primitive<Derived> {
    using signature = Signature;
    using record = tls_op;
    using values = fairlead::impl::operation::values_of<Signature>;

    machine* of;

    explicit tls_primitive(stream_core const& c) noexcept : of(&c.pending()) {}
    loop* home() const noexcept { return &stream_core::loop_of(*of); }
    void prepare(tls_op& o) const noexcept {
        o.cancel = nullptr;
        o.result = {0, 0, 0};
        o.of = of;
        o.data = nullptr;
        o.size = 0;
        o.category = nullptr;
        o.what = Verb;
        o.is_client = false;
        o.is_sent = false;
    }
    /// Of reads only: an attempt that fails leaves nothing behind. A write may have been encrypted and half sent.
    bool ready() const noexcept
        requires(Verb == verb::read)
    {
        return stream_core::ready(*of);
    }
    bool attempt(tls_op& o) const noexcept
        requires(Verb == verb::read)
    {
        return stream_core::try_now(o);
    }
    void submit(tls_op& o) const noexcept { stream_core::submit(o); }
    static values take(tls_op& o) noexcept {
        if constexpr (std::tuple_size_v<values> == 2)
            return {o.error(), o.result.n};
        else
            return {o.error()};
    }
    void block(values& v) const noexcept {
        tls_op o;
        static_cast<Derived const&>(*this).prepare(o);
        stream_core::perform(o);
        v = take(o);
    }
};

/// A read or a write of one buffer.
template <verb Verb> struct tls_transfer : tls_primitive<tls_transfer<Verb>, void(error_code, std::size_t), Verb> {
    using base = tls_primitive<tls_transfer<Verb>, void(error_code, std::size_t), Verb>;

    void* data;
    std::size_t size;

    tls_transfer(stream_core const& c, void* d, std::size_t n) noexcept : base(c), data(d), size(n) {}
    void prepare(tls_op& o) const noexcept {
        base::prepare(o);
        o.data = data;
        o.size = size;
    }
    static std::string describe() { return Verb == verb::read ? "read of TLS" : "write of TLS"; }
};
struct tls_handshake : tls_primitive<tls_handshake, void(error_code), verb::handshake> {
    bool is_client;

    tls_handshake(stream_core const& c, stream_base::handshake_type t) noexcept
        : tls_primitive(c),
          is_client(t == stream_base::client) {}
    void prepare(tls_op& o) const noexcept {
        tls_primitive::prepare(o);
        o.is_client = is_client;
    }
    static std::string describe() { return "handshake of TLS"; }
};
/// One with bytes that somebody has read already.
struct tls_buffered_handshake : tls_primitive<tls_buffered_handshake, void(error_code, std::size_t), verb::handshake> {
    void* data;
    std::size_t size;
    bool is_client;

    tls_buffered_handshake(stream_core const& c, stream_base::handshake_type t, const_buffer const& b) noexcept
        : tls_primitive(c),
          data(const_cast<void*>(b.data())),
          size(b.size()),
          is_client(t == stream_base::client) {}
    void prepare(tls_op& o) const noexcept {
        tls_primitive::prepare(o);
        o.data = data;
        o.size = size;
        o.is_client = is_client;
    }
    static std::string describe() { return "handshake of TLS"; }
};
struct tls_shutdown : tls_primitive<tls_shutdown, void(error_code), verb::shutdown> {
    using tls_primitive::tls_primitive;
    static std::string describe() { return "shutdown of TLS"; }
};

/// The first buffer of a sequence that has any bytes: a record holds one.
template <class Buffer, class Sequence> Buffer first_of(Sequence const& s) {
    for (auto i = buffer_sequence_begin(s), end = buffer_sequence_end(s); i != end; ++i)
        if (Buffer const b(fairlead::impl::base::as_buffer<Buffer>(*i)); b.size() != 0)
            return b;
    return {};
}

} // namespace fairlead::ssl::impl
