#include <redis/stream_transport.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/redis/error.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>

#include <exception>
#include <utility>

namespace fairlead::redis::impl {
namespace {

error_code code_thrown(std::exception_ptr const& e) {
    try {
        std::rethrow_exception(e);
    } catch (system_error const& x) {
        return x.code() ? x.code() : fairlead::error::operation_aborted;
    } catch (std::bad_alloc const&) {
        return fairlead::error::no_memory;
    } catch (...) {
        return error::connector_failed;
    }
}

} // namespace

stream_transport::stream_transport(io_loop& l, connector c) : transport(l), connector_(std::move(c)) {}

/// In a chain of its own, which close() can ask to end.
awaitable<error_code> stream_transport::connect(address_parts to, std::chrono::milliseconds) {
    is_open_ = true;
    std::exception_ptr thrown;
    any_stream made;
    try {
        auto making = co_spawn(any_io_executor(loop_executor(&engine())), connector_(to),
                               bind_cancellation_slot(connecting_.slot(), as_tuple(use_await)));
        std::tie(thrown, made) = co_await std::move(making);
    } catch (...) { // It was no coroutine yet.
        thrown = std::current_exception();
    }
    if (thrown)
        co_return code_thrown(thrown);
    if (!is_open_)
        co_return fairlead::error::operation_aborted;
    if (!made || &made.bytes().engine() != &engine())
        co_return error::connector_failed;
    stream_ = std::move(made);
    co_return error_code();
}

/// After close() an op fails as with a socket that is closed.
bool stream_transport::fails(transport_op& o) const noexcept {
    if (!stream_)
        o.fail(fairlead::error::bad_descriptor);
    return !stream_;
}

void stream_transport::give(transport_op& o) const noexcept {
    auto& b = stream_.bytes();
    o.begin(b, fairlead::impl::net::verb_of(o.kind), o.kind, o.data, o.size);
}

bool stream_transport::ready(io::kind k, std::size_t size) noexcept {
    if (!stream_)
        return true;
    if (auto* const s = stream_.bytes().socket())
        return engine().reactor().ready(s->handle, k, size);
    return k == io::kind::receive && stream_.bytes().tries();
}

bool stream_transport::try_now(transport_op& o) noexcept {
    if (fails(o))
        return true;
    give(o);
    return o.is_socket ? engine().reactor().try_now(o) : o.kind == io::kind::receive && stream_.bytes().try_now(o);
}

void stream_transport::submit(transport_op& o) noexcept {
    if (fails(o))
        return engine().post(o);
    give(o);
    if (o.is_socket)
        engine().submit(o);
    else
        stream_.bytes().submit(o);
}

void stream_transport::close() noexcept {
    is_open_ = false;
    connecting_.emit(cancellation_type::terminal);
    stream_.close();
}

} // namespace fairlead::redis::impl
