// A socket of ours as a byte_stream. Most of its ops go to the driver at once; these functions serve those that do not
// know what they have below them.
#pragma once

#include <fairlead/net/byte_stream.hpp>

#include <concepts>

namespace fairlead::impl::net {

/// A socket of ours that carries a stream of bytes: its ops go to the driver.
template <class Socket>
concept stream_socket_type = requires(Socket& s, mutable_buffer b) {
    { s.core() } -> std::same_as<socket_core&>;
    s.shutdown(socket_base::shutdown_both);
    s.read_all_initiation(b);
};

class FAIRLEAD_EXPORT socket_stream final : public byte_stream {
public:
    explicit socket_stream(socket_core& s) noexcept : byte_stream(s.engine, true, &s) {}
    ~socket_stream() override = default;

    bool try_now(stream_op& o) noexcept override;
    bool try_write(stream_op& o) noexcept override { return try_now(o); }
    void submit(stream_op& o) noexcept override;
    void cancel(stream_op& o) noexcept override;
    void perform(stream_op& o) noexcept override;
    void is_at(void* to) noexcept override { set_socket(static_cast<socket_core*>(to)); }
};

} // namespace fairlead::impl::net
