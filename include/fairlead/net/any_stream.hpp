// One type for streams of bytes: sockets, pipes between processes, TLS, a program's own.
#pragma once

#include <fairlead/base/assert.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/net/handled_stream.hpp>
#include <fairlead/net/socket_stream.hpp>
#include <fairlead/net/stream_primitives.hpp>
#include <fairlead/operation/initiate_on.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace fairlead {
namespace impl::net {

/// The stream that an any_stream has. `bytes` performs its operations.
class held_stream {
public:
    held_stream(held_stream const&) = delete;
    held_stream& operator=(held_stream const&) = delete;
    virtual ~held_stream() = default;
    virtual any_io_executor get_executor() const noexcept = 0;
    virtual void* target(std::type_info const& type) noexcept = 0;

    byte_stream* bytes = nullptr;

protected:
    held_stream() = default;
};

template <class Stream> class held_as : public held_stream {
public:
    any_io_executor get_executor() const noexcept override {
        return any_io_executor(const_cast<Stream&>(stream_).get_executor());
    }
    void* target(std::type_info const& type) noexcept override {
        return type == typeid(Stream) ? std::addressof(stream_) : nullptr;
    }

protected:
    template <class... Args> explicit held_as(Args&&... args) : stream_(std::forward<Args>(args)...) {}
    ~held_as() override = default;
    Stream stream_;
};
/// A stream that is a byte_stream itself.
template <class Stream> class held final : public held_as<Stream> {
public:
    template <class... Args> explicit held(Args&&... args) : held_as<Stream>(std::forward<Args>(args)...) {
        this->bytes = &this->stream_.bytes();
    }
    ~held() override = default;
};
template <stream_socket_type Socket> class held<Socket> final : public held_as<Socket> {
public:
    template <class... Args> explicit held(Args&&... args) : held_as<Socket>(std::forward<Args>(args)...) {
        this->bytes = new socket_stream(this->stream_.core());
    }
    ~held() override { this->bytes->release(); } // A TLS stream above keeps it while something is under way.
};
template <class Stream>
    requires(!stream_socket_type<Stream> && !has_bytes<Stream>)
class held<Stream> final : public held_as<Stream> {
public:
    template <class... Args> explicit held(Args&&... args) : held_as<Stream>(std::forward<Args>(args)...) {
        this->bytes = new handled_stream<Stream>(this->stream_);
    }
    ~held() override {
        this->bytes->forget();
        this->bytes->release(); // Operations that are pending keep it.
    }
};

} // namespace impl::net

/// A stream of bytes of any type, which it owns: one program serves TCP, UNIX sockets, TLS and streams of its own.
///
/// An operation is one indirect call; one more if it was tried in vain and waits. With sockets of the library it is
/// none.
/// Threads    as the stream that it has: one read and one write at a time
/// Lifetime   *this outlives its operations. Destroyed, it destroys the stream, which ends them
/// Allocates  a block for the stream, where it is made
class any_stream {
public:
    using executor_type = any_io_executor;
    using lowest_layer_type = any_stream;

    /// Has none: whoever starts an operation, or asks for the executor, traps.
    any_stream() noexcept = default;
    /// Takes over `s`.
    template <class Stream>
        requires(!std::same_as<Stream, any_stream> && async_read_stream<Stream> && async_write_stream<Stream>)
    any_stream(Stream s) : held_(std::make_unique<impl::net::held<Stream>>(std::move(s))) {}
    /// Makes a Stream of `args`, one that cannot be moved for instance.
    template <class Stream, class... Args>
        requires(std::constructible_from<Stream, Args...> && async_read_stream<Stream> && async_write_stream<Stream>)
    explicit any_stream(std::in_place_type_t<Stream>, Args&&... args)
        : held_(std::make_unique<impl::net::held<Stream>>(std::forward<Args>(args)...)) {}
    any_stream(any_stream&&) noexcept = default;
    any_stream& operator=(any_stream&&) noexcept = default;
    ~any_stream() = default;

    explicit operator bool() const noexcept { return held_ != nullptr; }
    /// The stream, if it is of that type; else null.
    template <class Stream> Stream* target() noexcept {
        return held_ ? static_cast<Stream*>(held_->target(typeid(Stream))) : nullptr;
    }
    executor_type get_executor() const noexcept {
        FAIRLEAD_ASSERT(held_);
        return held_->get_executor();
    }
    lowest_layer_type& lowest_layer() noexcept { return *this; }
    lowest_layer_type const& lowest_layer() const noexcept { return *this; }
    /// Destroys the stream: pending operations complete with operation_aborted, and *this has none.
    void close() noexcept { held_.reset(); }

    /// Reads at least one byte into `into`.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     those of the stream
    /// Cancel     terminal, partial; total also with sockets and TLS
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `into` outlive the completion
    /// Threads    one reader plus one writer
    /// Allocates  nothing awaited with one buffer; with several, as for handlers, one counted block. A stream of the
    ///            program's gets memory of the recycler for its own operations
    template <mutable_buffer_sequence Buffers, class Token = use_await_t>
        requires(!impl::base::waits_only<Buffers>)
    decltype(auto) async_read_some(Buffers const& into, Token&& token = {}) noexcept(nothrow<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(*this, std::forward<Token>(token),
                                                                           transfer(io::kind::receive, into));
    }
    /// Writes at least one byte of `from`.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     those of the stream
    /// Cancel     terminal, partial; total also with sockets
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `from` outlive the completion
    /// Threads    one reader plus one writer
    /// Allocates  as async_read_some
    template <const_buffer_sequence Buffers, class Token = use_await_t>
        requires(!impl::base::waits_only<Buffers>)
    decltype(auto) async_write_some(Buffers const& from, Token&& token = {}) noexcept(nothrow<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(*this, std::forward<Token>(token),
                                                                           transfer(io::kind::send, from));
    }
    /// Says that no more will be written, and waits until the peer says so where a protocol has that: TLS does. Of
    /// sockets it ends the sending half.
    /// Completes  (error_code ec)
    /// Errors     error::operation_not_supported    a stream of the program's that has no async_shutdown
    ///            those of the stream
    /// Cancel     terminal, partial
    /// Immediate  no
    /// Lifetime   *this outlives the completion
    /// Threads    no other operation at a time
    /// Allocates  as async_read_some
    template <class Token = use_await_t> decltype(auto) async_shutdown(Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::stream_shutdown>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::net::stream_shutdown(bytes()));
    }

    /// Says that no more will be written. Reads go on until the peer says so, too.
    /// Completes  (error_code ec)
    /// Errors     error::operation_not_supported    a stream of the program's that has no async_shutdown_send
    ///            those of the stream
    /// Cancel     terminal, partial
    /// Immediate  no
    /// Lifetime   *this outlives the completion
    /// Threads    as a write
    /// Allocates  as async_read_some
    template <class Token = use_await_t> decltype(auto) async_shutdown_send(Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::stream_shutdown>) {
        return impl::operation::initiate_on<void(error_code)>(
            *this, std::forward<Token>(token),
            impl::net::stream_shutdown(bytes(), impl::net::stream_verb::shutdown_send));
    }

    // In the calling thread. With a stream that has asynchronous operations only they fail (operation_not_supported).
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into, error_code& ec) {
        return impl::net::perform<std::size_t>(ec, transfer(io::kind::receive, into));
    }
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into) {
        error_code ec;
        auto const n = read_some(into, ec);
        impl::base::throw_error(ec, "read_some");
        return n;
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from, error_code& ec) {
        return impl::net::perform<std::size_t>(ec, transfer(io::kind::send, from));
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from) {
        error_code ec;
        auto const n = write_some(from, ec);
        impl::base::throw_error(ec, "write_some");
        return n;
    }
    error_code shutdown(error_code& ec) {
        return ec = std::get<0>(impl::net::performed(impl::net::stream_shutdown(bytes())));
    }
    void shutdown() {
        error_code ec;
        impl::base::throw_error(shutdown(ec), "shutdown");
    }

    /// For async_read and async_write: the whole transfer as one op.
    template <mutable_buffer_sequence Buffers> auto read_all_initiation(Buffers const& into) noexcept {
        return transfer(io::kind::receive_all, into);
    }
    template <const_buffer_sequence Buffers> auto write_all_initiation(Buffers const& from) noexcept {
        return transfer(io::kind::send_all, from);
    }
    /// For streams on top of this one.
    impl::net::byte_stream& bytes() const noexcept {
        FAIRLEAD_ASSERT(held_);
        return *held_->bytes;
    }
    /// For initiate_on().
    bool runs_handlers() const noexcept { return bytes().engine_ref().runs_handlers(); }

private:
    template <class Token, class Buffers> static constexpr bool nothrow =
        impl::operation::nothrow_token<std::decay_t<Token>, decltype(impl::net::make_stream_transfer(
                                                                std::declval<impl::net::byte_stream&>(), io::kind::send,
                                                                std::declval<Buffers const&>()))>;
    template <class Buffers> auto transfer(io::kind k, Buffers const& buffers) const noexcept {
        return impl::net::make_stream_transfer(bytes(), k, buffers);
    }

    std::unique_ptr<impl::net::held_stream> held_;
};

} // namespace fairlead
