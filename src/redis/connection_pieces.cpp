// Values in pieces: whoever has the connection for itself asks for each of them (decision 047).
//
// A reply is not read beyond what was asked for: then the system holds it up, and at last the server. An argument is
// taken piece by piece, each when the one before it has been written.
#include <redis/connection_core.hpp>

namespace fairlead::redis::impl {

void connection_core::start_in_pieces(exec_op& o, bool is_ready) noexcept {
    bool is_in = false;
    switch (o.request->pieces()) {
    case piecewise::nothing:
    case piecewise::reply: return void(enqueue(o, is_ready));
    case piecewise::argument:
        if (o.request->timeout() == o.request->timeout().zero())
            o.limit_ms = 0; // The time of a call is not that of a value of any size.
        is_in = (o.limit_ms == 0 || arm_limit_of(o)) && mux_.add_with_value(o);
        break;
    case piecewise::next_in: o.limit_ms = 0; return ask_for_piece(o);
    case piecewise::next_out:
        o.limit_ms = 0;
        is_in = mux_.add_piece(o);
        break;
    }
    if (!is_in)
        complete(o);
    else if (is_ready)
        queue_flush();
    else
        count_work();
}

void connection_core::ask_for_piece(exec_op& o) noexcept {
    if (!mux_.is_receiving_value()) {
        o.fail(error::value_incomplete);
        return complete(o);
    }
    mux_.await_piece(o);
    if (is_reading_held_)
        go_on_reading();
}

/// No read is under way now, which would be the work of the loop.
void connection_core::hold_reading() noexcept {
    is_reading_held_ = true;
    loop().work_started();
}

void connection_core::go_on_reading() noexcept {
    is_reading_held_ = false;
    loop().work_finished();
    op_queue done;
    auto const bytes = in_.data();
    auto const p = mux_.on_bytes({static_cast<char const*>(bytes.data()), bytes.size()}, done);
    in_.consume(p.consumed);
    pass_on(done);
    read_on(p.ec);
}

} // namespace fairlead::redis::impl
