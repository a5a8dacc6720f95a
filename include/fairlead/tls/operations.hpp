// The operations of a TLS stream as primitives: their ops lie in await records and blocks, as those of sockets do.
#pragma once

#include <fairlead/net/handled_stream.hpp>
#include <fairlead/net/socket_stream.hpp>
#include <fairlead/net/stream_primitives.hpp>
#include <fairlead/operation/initiate_on.hpp>
#include <fairlead/tls/context.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct ssl_st; // OpenSSL's SSL

namespace fairlead::ssl::impl {

class machine;

using fairlead::impl::net::byte_stream;
using fairlead::impl::net::socket_core;
using fairlead::impl::net::stream_op;
using fairlead::impl::net::stream_verb;

/// The stream below. It is a socket of ours, whose ops go to the driver, or a byte_stream.
class below_ref {
public:
    static below_ref made(byte_stream* s) noexcept { return below_ref(s, kind::made); }
    static below_ref of(byte_stream& s) noexcept {
        s.retain();
        return below_ref(&s, kind::stream);
    }
    static below_ref of(socket_core& s) noexcept { return below_ref(&s, kind::socket); }
    below_ref(below_ref&& other) noexcept : at_(std::exchange(other.at_, nullptr)), kind_(other.kind_) {}
    below_ref& operator=(below_ref&&) = delete;
    ~below_ref() {
        if (at_ && kind_ != kind::socket)
            stream().release();
    }
    io::impl::io_loop_ref const& engine_ref() const noexcept {
        return kind_ == kind::socket ? static_cast<socket_core*>(at_)->engine : stream().engine_ref();
    }
    /// Null, or the driver has the ops, and stream() is of no use.
    socket_core* socket() const noexcept {
        return kind_ == kind::socket ? static_cast<socket_core*>(at_) : stream().socket();
    }
    byte_stream& stream() const noexcept { return *static_cast<byte_stream*>(at_); }
    void is_at(void* to) noexcept {
        if (kind_ == kind::socket)
            at_ = to;
        else if (kind_ == kind::made)
            stream().is_at(to);
    }
    void forget() const noexcept {
        if (kind_ == kind::made)
            stream().forget();
    }

private:
    enum class kind : unsigned char { socket, stream, made };

    below_ref(void* at, kind k) noexcept : at_(at), kind_(k) {}
    void* at_; ///< a socket_core or a byte_stream
    kind kind_;
};

/// The half of a stream that no template parameter changes. It stays until the stream below has given back its ops.
class stream_core {
public:
    FAIRLEAD_EXPORT stream_core(context& c, below_ref b);
    FAIRLEAD_EXPORT stream_core(ssl_st* s, below_ref b);
    stream_core(stream_core&& other) noexcept : bytes_(std::exchange(other.bytes_, nullptr)) {}
    /// The operations of this one end. Its machine would go on with the stream below that comes with the other one.
    stream_core& operator=(stream_core&& other) noexcept {
        stream_core taken(std::move(other));
        std::swap(bytes_, taken.bytes_);
        return *this;
    }
    FAIRLEAD_EXPORT ~stream_core();

    FAIRLEAD_EXPORT ssl_st* native_handle() const noexcept;
    FAIRLEAD_EXPORT std::string_view alpn_protocol() const noexcept;
    FAIRLEAD_EXPORT bool is_resumed() const noexcept;
    FAIRLEAD_EXPORT const_buffer ocsp_response() const noexcept;
    FAIRLEAD_EXPORT std::string_view protocol_version() const noexcept;
    FAIRLEAD_EXPORT std::vector<std::string> peer_certificates() const;
    FAIRLEAD_EXPORT void is_at(void* below) noexcept;
    FAIRLEAD_EXPORT error_code set_host_name(std::string const& name) noexcept;
    FAIRLEAD_EXPORT error_code set_verify_mode(verify_mode v) noexcept;
    FAIRLEAD_EXPORT error_code set_verify_depth(int depth) noexcept;
    FAIRLEAD_EXPORT error_code verify_with(verify_function f) noexcept;
    FAIRLEAD_EXPORT error_code set_early_data(const_buffer const& b) noexcept;
    FAIRLEAD_EXPORT early_data early_data_outcome() const noexcept;

    byte_stream& bytes() const noexcept { return *bytes_; }

private:
    machine& own() const noexcept;
    byte_stream* bytes_; ///< the machine
};

using fairlead::impl::net::stream_primitive;
using fairlead::impl::net::stream_shutdown;

struct tls_handshake : stream_primitive<tls_handshake, void(error_code)> {
    bool is_client;

    tls_handshake(stream_core const& c, stream_base::handshake_type t) noexcept
        : stream_primitive(c.bytes()),
          is_client(t == stream_base::client) {}
    void prepare(stream_op& o) const noexcept {
        o.begin(*of, stream_verb::handshake, io::kind::send_all, nullptr, 0);
        o.is_client = is_client;
    }
    using stream_primitive::describe;
    static std::string describe() { return "handshake of TLS"; }
};
/// One with bytes that somebody has read already.
struct tls_buffered_handshake : stream_primitive<tls_buffered_handshake, void(error_code, std::size_t)> {
    void* data;
    std::size_t size;
    bool is_client;

    tls_buffered_handshake(stream_core const& c, stream_base::handshake_type t, const_buffer const& b) noexcept
        : stream_primitive(c.bytes()),
          data(const_cast<void*>(b.data())),
          size(b.size()),
          is_client(t == stream_base::client) {}
    void prepare(stream_op& o) const noexcept {
        o.begin(*of, stream_verb::handshake, io::kind::send_all, data, size);
        o.is_client = is_client;
    }
    using stream_primitive::describe;
    static std::string describe() { return "handshake of TLS"; }
};
/// With several buffers.
struct tls_sequence_handshake : stream_primitive<tls_sequence_handshake, void(error_code, std::size_t)>,
                                fairlead::impl::net::with_slices<tls_sequence_handshake> {
    fairlead::impl::net::slice_list slices;
    bool is_client;

    template <class Buffers>
    tls_sequence_handshake(stream_core const& c, stream_base::handshake_type t, Buffers const& come) noexcept
        : stream_primitive(c.bytes()),
          slices(come),
          is_client(t == stream_base::client) {}
    void prepare(stream_op& o) const noexcept { set(o, slices.data()); }
    std::size_t extra_bytes() const noexcept { return slices.bytes(); }
    void prepare(stream_op& o, void* extra) const noexcept {
        slices.copy_to(extra);
        set(o, extra);
    }
    using stream_primitive::describe;
    static std::string describe() { return "handshake of TLS"; }

private:
    void set(stream_op& o, void* all) const noexcept {
        o.begin(*of, stream_verb::handshake, io::kind::send_all, nullptr, 0);
        o.is_client = is_client;
        slices.set(o, all);
    }
};

/// A read of what a client sends ahead of its handshake. It is part of the server's handshake.
struct tls_early_read : stream_primitive<tls_early_read, void(error_code, std::size_t)> {
    void* data;
    std::size_t size;

    tls_early_read(stream_core const& c, mutable_buffer const& b) noexcept
        : stream_primitive(c.bytes()),
          data(b.data()),
          size(b.size()) {}
    void prepare(stream_op& o) const noexcept { o.begin(*of, stream_verb::handshake, io::kind::receive, data, size); }
    using stream_primitive::describe;
    static std::string describe() { return "read of early data of TLS"; }
};

} // namespace fairlead::ssl::impl
