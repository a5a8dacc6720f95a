// Descriptors of other things than sockets: terminals, pipes, event counters, devices, files.
#pragma once

#include <fairlead/net/descriptor_base.hpp>
#include <fairlead/net/fwd.hpp>
#include <fairlead/net/socket.hpp>

namespace fairlead {
namespace posix {

/// The one with the default executor.
using descriptor = basic_descriptor<>;
/// The stream descriptor with the default executor.
using stream_descriptor = basic_stream_descriptor<>;

/// A descriptor of the program's, which is closed with this object unless it is released before.
///
/// It is made not to wait (O_NONBLOCK); native_handle() and release() show it as it was, unless an asynchronous
/// operation was started before. This is a property of what is open, not of the number. Standard input, output and
/// error of a terminal are usually one and the same. Copy them (dup) and the property is shared all the same; open
/// /dev/tty anew to be independent.
/// A descriptor that the system refuses to watch (regular files, directories, /dev/null) is always ready. Operations on
/// it complete at once, and let the thread wait for a disk. That also holds for a standard input that was redirected
/// from one.
/// Threads: one object by one thread at a time. In a simulated world assign() takes what release() has given on the
/// same host.
template <class Executor> class basic_descriptor : public descriptor_base, public impl::net::io_object<Executor> {
    using object = impl::net::io_object<Executor>;

public:
    using native_handle_type = int;
    using lowest_layer_type = basic_descriptor;
    template <class E> struct rebind_executor {
        using other = basic_descriptor<E>;
    };

    explicit basic_descriptor(Executor const& e) : object(e) {}
    template <execution_context_type Context> explicit basic_descriptor(Context& c)
        : basic_descriptor(Executor(c.get_executor())) {}
    basic_descriptor(Executor const& e, native_handle_type fd) : object(e) { assign(fd); }
    template <execution_context_type Context> basic_descriptor(Context& c, native_handle_type fd)
        : basic_descriptor(Executor(c.get_executor()), fd) {}
    basic_descriptor(basic_descriptor&&) noexcept = default;
    basic_descriptor& operator=(basic_descriptor&&) noexcept = default;
    template <class E>
        requires(!std::same_as<E, Executor> && std::convertible_to<E, Executor>)
    basic_descriptor(basic_descriptor<E>&& other) noexcept : object(static_cast<impl::net::io_object<E>&&>(other)) {}
    ~basic_descriptor() = default;

    lowest_layer_type& lowest_layer() noexcept { return *this; }
    lowest_layer_type const& lowest_layer() const noexcept { return *this; }

    /// Takes over an open descriptor.
    /// Errors     error::already_open       this one has a descriptor: close or release it first
    ///            error::bad_descriptor     `fd` is not open
    ///            std::errc::file_exists    another object of the same context has it
    void assign(native_handle_type fd) { impl::base::throw_error(core_.adopt(fd), "assign"); }
    error_code assign(native_handle_type fd, error_code& ec) noexcept { return ec = core_.adopt(fd); }

    /// Waits until the descriptor is ready to read, to write, or has an error condition.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this outlives the completion
    /// Threads    one object by one thread at a time
    /// Allocates  nothing awaited
    /// Source     man 2 poll
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_wait(wait_type what, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::wait_ready>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::net::wait_ready(core_, impl::net::kind_of(what)));
    }
    void wait(wait_type what) {
        error_code ec;
        wait(what, ec);
        impl::base::throw_error(ec, "wait");
    }
    error_code wait(wait_type what, error_code& ec) {
        return ec = impl::net::wait_until_ready(core_, impl::net::kind_of(what));
    }

protected:
    using object::core_;
    using object::executor_;
};

/// A descriptor that is read and written as a stream of bytes.
/// Threads: one reader plus one writer at a time; otherwise unsynchronised. Several pending reads (writes) are served
/// in the order in which they were started.
template <class Executor> class basic_stream_descriptor : public basic_descriptor<Executor> {
    using base = basic_descriptor<Executor>;
    using base::core_;

public:
    template <class E> struct rebind_executor {
        using other = basic_stream_descriptor<E>;
    };

    using base::async_read_some, base::async_write_some;
    using base::base;
    basic_stream_descriptor(basic_stream_descriptor&&) noexcept = default;
    basic_stream_descriptor& operator=(basic_stream_descriptor&&) noexcept = default;
    template <class E>
        requires(!std::same_as<E, Executor> && std::convertible_to<E, Executor>)
    basic_stream_descriptor(basic_stream_descriptor<E>&& other) noexcept : base(std::move(other)) {}
    ~basic_stream_descriptor() = default;

    /// Reads at least one byte into `into`.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     error::eof               the end: all writers of a pipe have closed it, a file is over
    ///            error::operation_aborted cancelled; nothing was read
    ///            errors of read(2), e.g. invalid_argument for a buffer too small for an event counter
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `into` outlive the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  nothing awaited with one buffer; with several, as for handlers, one counted block
    /// Source     man 2 readv
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>> decltype(auto)
    async_read_some(Buffers const& into, Token&& token = {}) noexcept(impl::net::nothrow_transfer<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, io::kind::receive, into));
    }
    /// Writes at least one byte of `from`.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     error::broken_pipe        nobody reads the pipe any more; SIGPIPE is never raised
    ///            error::operation_aborted  cancelled; nothing was written
    ///            what write(2) reports
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `from` outlive the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  nothing awaited with one buffer; with several, as for handlers, one counted block
    /// Source     man 2 writev
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>> decltype(auto)
    async_write_some(Buffers const& from, Token&& token = {}) noexcept(impl::net::nothrow_transfer<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, io::kind::send, from));
    }

    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into) {
        return impl::net::perform_transfer("read_some", core_, io::kind::receive, into);
    }
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into, error_code& ec) {
        return impl::net::perform_transfer(ec, core_, io::kind::receive, into);
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from) {
        return impl::net::perform_transfer("write_some", core_, io::kind::send, from);
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from, error_code& ec) {
        return impl::net::perform_transfer(ec, core_, io::kind::send, from);
    }

    /// For async_read and async_write: the whole transfer as one op, which the driver carries on where it stopped.
    template <mutable_buffer_sequence Buffers> auto read_all_initiation(Buffers const& into) noexcept {
        return impl::net::make_transfer(core_, io::kind::receive_all, into);
    }
    template <const_buffer_sequence Buffers> auto write_all_initiation(Buffers const& from) noexcept {
        return impl::net::make_transfer(core_, io::kind::send_all, from);
    }
};

} // namespace posix
} // namespace fairlead
