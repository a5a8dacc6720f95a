// The base of everything with a descriptor: sockets, acceptors, pipes, descriptors of other things.
#pragma once

#include <fairlead/base/buffer.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/io/io_loop_for.hpp>
#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/initiate_on.hpp>
#include <fairlead/token/block.hpp>

#include <utility>

namespace fairlead::impl::net {

/// The half of an I/O object that no template parameter changes.
struct socket_core {
    [[no_unique_address]] io::impl::io_loop_ref engine; ///< its last bytes have space for the two flags
    bool user_non_blocking = false;
    bool report_aborted = false;
    int family;
    io::handle handle;

    FAIRLEAD_EXPORT error_code open(int family, int type, int protocol) noexcept;
    FAIRLEAD_EXPORT error_code close() noexcept;
    FAIRLEAD_EXPORT error_code bind(void const* address, std::size_t size) noexcept;
    FAIRLEAD_EXPORT error_code listen(int backlog) noexcept;
    FAIRLEAD_EXPORT error_code shutdown(int how) noexcept;
    FAIRLEAD_EXPORT error_code set_option(int level, int name, void const* data, std::size_t size) noexcept;
    FAIRLEAD_EXPORT error_code get_option(int level, int name, void* data, std::size_t& size) noexcept;
    FAIRLEAD_EXPORT error_code address(io::name_of which, void* data, std::size_t& size) noexcept;
    FAIRLEAD_EXPORT error_code adopt(int fd) noexcept;
    FAIRLEAD_EXPORT std::size_t cancel(error_code& ec) noexcept;
    FAIRLEAD_EXPORT std::size_t available(error_code& ec) noexcept;
    FAIRLEAD_EXPORT error_code control(unsigned long command, void* data) noexcept;
    FAIRLEAD_EXPORT bool at_mark(error_code& ec) noexcept;
    FAIRLEAD_EXPORT error_code non_blocking(bool on) noexcept;
    FAIRLEAD_EXPORT error_code native_non_blocking(bool on) noexcept;
    FAIRLEAD_EXPORT bool native_non_blocking() const noexcept;
    FAIRLEAD_EXPORT int release(error_code& ec) noexcept;
    FAIRLEAD_EXPORT int native() const noexcept;
};
static_assert(sizeof(socket_core) == 24);

/// Owns a descriptor, or none. Closed when it is destroyed: pending operations complete with operation_aborted.
/// A function that takes an `error_code&` and has no other result returns that error, so that an `if` can ask it.
template <class Executor> class io_object {
public:
    using executor_type = Executor;
    using native_handle_type = int;

    executor_type get_executor() const noexcept { return executor_; }
    bool is_open() const noexcept { return core_.handle.is_open(); }

    /// Pending operations complete with operation_aborted. Closing what is closed does nothing.
    void close() { base::throw_error(core_.close(), "close"); }
    error_code close(error_code& ec) noexcept { return ec = core_.close(); }
    /// Gives the descriptor away, still open, in the mode that native_handle() speaks of; pending operations complete
    /// with operation_aborted.
    native_handle_type release() {
        error_code ec;
        int const fd = core_.release(ec);
        base::throw_error(ec, "release");
        return fd;
    }
    native_handle_type release(error_code& ec) noexcept { return core_.release(ec); }
    /// The descriptor; -1 when closed and in a simulated world. System calls on it wait until
    /// native_non_blocking(true), non_blocking(true) or the first asynchronous operation. A wait for readiness does not
    /// count as one. A descriptor that assign() took in non-blocking mode does not wait either.
    native_handle_type native_handle() const noexcept { return core_.native(); }

    /// Pending operations complete with operation_aborted.
    void cancel() {
        error_code ec;
        core_.cancel(ec);
        base::throw_error(ec, "cancel");
    }
    error_code cancel(error_code& ec) noexcept {
        core_.cancel(ec);
        return ec;
    }

    /// Asks the system for something that has no name here. A command has name() (the ioctl) and data().
    template <class Command> void io_control(Command& command) {
        base::throw_error(core_.control(static_cast<unsigned>(command.name()), command.data()), "io_control");
    }
    template <class Command> error_code io_control(Command& command, error_code& ec) {
        return ec = core_.control(static_cast<unsigned>(command.name()), command.data());
    }

    /// Synchronous operations fail with would_block instead of waiting; asynchronous ones work regardless.
    bool non_blocking() const noexcept { return core_.user_non_blocking; }
    void non_blocking(bool on) { base::throw_error(core_.non_blocking(on), "non_blocking"); }
    error_code non_blocking(bool on, error_code& ec) noexcept { return ec = core_.non_blocking(on); }
    /// For those who make system calls on native_handle(): whether these return instead of waiting. An asynchronous
    /// operation turns it on.
    /// Errors     error::invalid_argument    turned off while non_blocking() is on
    bool native_non_blocking() const noexcept { return core_.native_non_blocking(); }
    void native_non_blocking(bool on) { base::throw_error(core_.native_non_blocking(on), "native_non_blocking"); }
    error_code native_non_blocking(bool on, error_code& ec) noexcept { return ec = core_.native_non_blocking(on); }

    /// For the library's own algorithms.
    socket_core& core() noexcept { return core_; }
    /// The loop of get_executor(), for which that need not be copied.
    loop* native_loop() const noexcept { return exec::loop_of(executor_); }
    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.engine.runs_handlers(); }

protected:
    // Objects that read and write say this of arguments that are no buffers.
    template <class Other, class... More>
        requires(!mutable_buffer_sequence<Other>)
    FAIRLEAD_REFUSED(FAIRLEAD_NO_MUTABLE_BUFFERS)
    operation::refused_transfer async_read_some(Other const&, More&&...) {
        return {};
    }
    template <class Other, class... More>
        requires(!mutable_buffer_sequence<Other>)
    FAIRLEAD_REFUSED(FAIRLEAD_NO_MUTABLE_BUFFERS)
    operation::refused_transfer async_receive(Other const&, More&&...) {
        return {};
    }
    template <class Other, class... More>
        requires(!const_buffer_sequence<Other>)
    FAIRLEAD_REFUSED(FAIRLEAD_NO_BUFFERS)
    operation::refused_transfer async_write_some(Other const&, More&&...) {
        return {};
    }
    template <class Other, class... More>
        requires(!const_buffer_sequence<Other>)
    FAIRLEAD_REFUSED(FAIRLEAD_NO_BUFFERS)
    operation::refused_transfer async_send(Other const&, More&&...) {
        return {};
    }

    explicit io_object(Executor const& e, int family = 0) : executor_(e) {
        core_.engine = io::impl::io_loop_for(e);
        core_.family = family;
    }
    io_object(io_object&& other) noexcept : executor_(other.executor_), core_(other.core_) { other.core_.handle = {}; }
    template <class E> explicit io_object(io_object<E>&& other) noexcept
        : executor_(other.get_executor()),
          core_(other.core()) {
        core_.engine.note_executor(executor_);
        other.core().handle = {};
    }
    io_object& operator=(io_object&& other) noexcept {
        if (this != &other) {
            core_.close();
            executor_ = other.executor_;
            core_ = other.core_;
            other.core_.handle = {};
        }
        return *this;
    }
    ~io_object() { core_.close(); }

    Executor executor_;
    mutable socket_core core_{};
};

} // namespace fairlead::impl::net
