// Writing needs no coroutine. The flush op starts one write at the end of the turn in which the first request came.
// When it is done, the next one takes all that has come meanwhile.
#include <redis/connection_core.hpp>

namespace fairlead::redis::impl {

void connection_core::queue_flush() noexcept {
    if (!session_.wants_flush())
        return;
    retain();
    loop().post(flush_);
}

void connection_core::on_flush(op* base, op_mode mode) {
    auto& core = *static_cast<core_op*>(base)->core;
    bool const is_time = core.session_.flushed();
    if (mode == op_mode::complete && is_time)
        core.write_next();
    core.release();
}

void connection_core::write_next() noexcept {
    if (!session_.may_write())
        return;
    if (auto const bytes = mux_.next_output(); !bytes.empty())
        begin_write(bytes);
}

void connection_core::begin_write(std::string_view bytes) noexcept {
    ++mux_.counters().writes;
    write_.begin(io::kind::send_all, const_cast<char*>(bytes.data()), bytes.size());
    bool const is_done = engine_->as_owner(
        [this]() noexcept { return stream_->ready(write_.kind, write_.size) && stream_->try_now(write_); });
    if (is_done) {
        if (!written()) [[unlikely]]
            session_.write_failed();
        return;
    }
    session_.write_waits();
    retain();
    stream_->submit(write_);
}

void connection_core::on_written(op* base, op_mode mode) {
    auto& core = *static_cast<write_op*>(base)->core;
    bool const is_good = mode == op_mode::complete && core.written();
    using next = session_machine::next;
    switch (core.session_.wrote(is_good)) {
    case next::finish: core.finish_now(); break;
    case next::write: core.write_next(); break;
    case next::greet: core.greeted_late(); break;
    case next::nothing: break;
    }
    core.release();
}

/// False: it has failed.
bool connection_core::written() noexcept {
    mux_.counters().bytes_written += write_.result.n;
    if (!write_.result.error) [[likely]] {
        mux_.output_done();
        return true;
    }
    // The last words of the server may still be unread, so the reader ends the session: it will see the end, too.
    // Where that is not certain, it is made to.
    auto const ec = write_.error();
    if (ec != fairlead::error::broken_pipe && ec != fairlead::error::connection_reset)
        stop(ec);
    return false;
}

} // namespace fairlead::redis::impl
