// The two ends of a pipe.
#pragma once

#include <fairlead/net/fwd.hpp>
#include <fairlead/net/socket.hpp>

namespace fairlead {

/// The read end, with the default executor.
using readable_pipe = basic_readable_pipe<>;
/// The write end, with the default executor.
using writable_pipe = basic_writable_pipe<>;

namespace impl::net {

/// Either end.
template <class Executor> class pipe_end : public io_object<Executor> {
public:
    using native_handle_type = int;
    using lowest_layer_type = pipe_end;

    lowest_layer_type& lowest_layer() noexcept { return *this; }
    lowest_layer_type const& lowest_layer() const noexcept { return *this; }

    /// Takes over an open descriptor.
    /// Errors     error::already_open     this one has a descriptor: close or release it first
    ///            error::bad_descriptor   `fd` is not open
    void assign(native_handle_type fd) { base::throw_error(this->core_.adopt(fd), "assign"); }
    error_code assign(native_handle_type fd, error_code& ec) noexcept { return ec = this->core_.adopt(fd); }

protected:
    explicit pipe_end(Executor const& e) : io_object<Executor>(e) {}
    template <class E> explicit pipe_end(io_object<E>&& other) noexcept : io_object<Executor>(std::move(other)) {}
    pipe_end(Executor const& e, native_handle_type fd) : io_object<Executor>(e) { assign(fd); }
    pipe_end(pipe_end&&) noexcept = default;
    pipe_end& operator=(pipe_end&&) noexcept = default;
    ~pipe_end() = default;
};

FAIRLEAD_EXPORT error_code connect_pipe(socket_core& reads, socket_core& writes) noexcept;

} // namespace impl::net

/// The end that is read.
/// Threads: one object by one thread at a time.
template <class Executor> class basic_readable_pipe : public impl::net::pipe_end<Executor> {
    using base = impl::net::pipe_end<Executor>;
    using base::core_;

public:
    using native_handle_type = int;
    using base::async_read_some;
    template <class E> struct rebind_executor {
        using other = basic_readable_pipe<E>;
    };

    explicit basic_readable_pipe(Executor const& e) : base(e) {}
    template <execution_context_type Context> explicit basic_readable_pipe(Context& c)
        : base(Executor(c.get_executor())) {}
    basic_readable_pipe(Executor const& e, native_handle_type fd) : base(e, fd) {}
    template <execution_context_type Context> basic_readable_pipe(Context& c, native_handle_type fd)
        : base(Executor(c.get_executor()), fd) {}
    basic_readable_pipe(basic_readable_pipe&&) noexcept = default;
    basic_readable_pipe& operator=(basic_readable_pipe&&) noexcept = default;
    template <class E>
        requires(!std::same_as<E, Executor> && std::convertible_to<E, Executor>)
    basic_readable_pipe(basic_readable_pipe<E>&& other) noexcept
        : base(static_cast<impl::net::io_object<E>&&>(other)) {}
    ~basic_readable_pipe() = default;

    /// Reads at least one byte into `into`.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     error::eof               all that could write have closed the pipe, and it is empty
    ///            error::operation_aborted cancelled; nothing was read
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `into` outlive the completion
    /// Threads    one object by one thread at a time
    /// Allocates  nothing awaited with one buffer; with several, as for handlers, one counted block
    /// Source     man 7 pipe
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>> decltype(auto)
    async_read_some(Buffers const& into, Token&& token = {}) noexcept(impl::net::nothrow_transfer<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, io::kind::receive, into));
    }
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into) {
        return impl::net::perform_transfer("read_some", core_, io::kind::receive, into);
    }
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into, error_code& ec) {
        return impl::net::perform_transfer(ec, core_, io::kind::receive, into);
    }
    template <mutable_buffer_sequence Buffers> auto read_all_initiation(Buffers const& into) noexcept {
        return impl::net::make_transfer(core_, io::kind::receive_all, into);
    }
};

/// The end that is written.
/// Threads: one object by one thread at a time.
template <class Executor> class basic_writable_pipe : public impl::net::pipe_end<Executor> {
    using base = impl::net::pipe_end<Executor>;
    using base::core_;

public:
    using native_handle_type = int;
    using base::async_write_some;
    template <class E> struct rebind_executor {
        using other = basic_writable_pipe<E>;
    };

    explicit basic_writable_pipe(Executor const& e) : base(e) {}
    template <execution_context_type Context> explicit basic_writable_pipe(Context& c)
        : base(Executor(c.get_executor())) {}
    basic_writable_pipe(Executor const& e, native_handle_type fd) : base(e, fd) {}
    template <execution_context_type Context> basic_writable_pipe(Context& c, native_handle_type fd)
        : base(Executor(c.get_executor()), fd) {}
    basic_writable_pipe(basic_writable_pipe&&) noexcept = default;
    basic_writable_pipe& operator=(basic_writable_pipe&&) noexcept = default;
    template <class E>
        requires(!std::same_as<E, Executor> && std::convertible_to<E, Executor>)
    basic_writable_pipe(basic_writable_pipe<E>&& other) noexcept
        : base(static_cast<impl::net::io_object<E>&&>(other)) {}
    ~basic_writable_pipe() = default;

    /// Writes at least one byte of `from`.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     error::broken_pipe        nobody reads the pipe any more; SIGPIPE is never raised
    ///            error::operation_aborted  cancelled; nothing was written
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `from` outlive the completion
    /// Threads    one object by one thread at a time
    /// Allocates  nothing awaited with one buffer; with several, as for handlers, one counted block
    /// Source     man 7 pipe
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>> decltype(auto)
    async_write_some(Buffers const& from, Token&& token = {}) noexcept(impl::net::nothrow_transfer<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, io::kind::send, from));
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from) {
        return impl::net::perform_transfer("write_some", core_, io::kind::send, from);
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from, error_code& ec) {
        return impl::net::perform_transfer(ec, core_, io::kind::send, from);
    }
    template <const_buffer_sequence Buffers> auto write_all_initiation(Buffers const& from) noexcept {
        return impl::net::make_transfer(core_, io::kind::send_all, from);
    }
};

/// Makes a pipe.
/// Errors     error::already_open    one of the two is open
template <class E1, class E2>
error_code connect_pipe(basic_readable_pipe<E1>& reads, basic_writable_pipe<E2>& writes, error_code& ec) {
    return ec = impl::net::connect_pipe(reads.core(), writes.core());
}
template <class E1, class E2> void connect_pipe(basic_readable_pipe<E1>& reads, basic_writable_pipe<E2>& writes) {
    impl::base::throw_error(impl::net::connect_pipe(reads.core(), writes.core()), "connect_pipe");
}

} // namespace fairlead
