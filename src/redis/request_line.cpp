#include <redis/request_line.hpp>

#include <redis/connection_core.hpp>

namespace fairlead::redis::impl {

request_line::request_line(connection_core& home, io_loop& l) noexcept
    : home_(home),
      engine_(l),
      limits_(l, 0, this, [](void* self) noexcept { static_cast<request_line*>(self)->on_limits(); }) {}

request_line::~request_line() {
    while (!line_.empty())
        line_.pop_front(); // of a loop that has gone
}

bool request_line::push_back(exec_op& o) noexcept {
    if (o.limit_ms != 0 && !limits_.arm_by(o.due_ms)) {
        o.fail(fairlead::impl::base::code_of(std::errc::not_enough_memory));
        home_.complete(o);
        return false;
    }
    note_first();
    line_.push_back(o);
    size_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void request_line::note_first() noexcept {
    if (line_.empty())
        engine_.work_started();
}

void request_line::take_out(exec_op& o) noexcept {
    op_queue::unlink(o);
    size_.fetch_sub(1, std::memory_order_relaxed);
    if (!line_.empty())
        return;
    limits_.disarm(); // It would keep the loop running.
    engine_.work_finished();
}

void request_line::give_up(exec_op& o, error_code const& ec) noexcept {
    take_out(o);
    o.fail(ec);
    home_.complete(o);
}

void request_line::give_all_up(error_code const& ec) noexcept {
    while (!line_.empty())
        give_up(front(), ec);
}

bool request_line::cancel(exec_op& o) noexcept {
    bool is_mine = false;
    line_.for_each([&](op& each) {
        if (&each != &o)
            return;
        is_mine = true;
        give_up(o, fairlead::error::operation_aborted);
    });
    return is_mine;
}

std::size_t request_line::cancel(request const* r) noexcept {
    std::size_t n = 0;
    line_.for_each([&](op& each) {
        auto& o = static_cast<exec_op&>(each);
        if (o.request != r)
            return;
        ++n;
        give_up(o, fairlead::error::operation_aborted);
    });
    return n;
}

exec_op* request_line::find(op const* where, void* ticket) noexcept {
    exec_op* found = nullptr;
    line_.for_each([&](op& each) {
        if (&each == where && fairlead::impl::exec::has_ticket(each, ticket))
            found = static_cast<exec_op*>(&each);
    });
    return found;
}

exec_op* request_line::find_marked() noexcept {
    exec_op* found = nullptr;
    line_.for_each([&](op& each) {
        if (fairlead::impl::exec::is_marked_asked(each))
            found = static_cast<exec_op*>(&each);
    });
    return found;
}

void request_line::on_limits() noexcept {
    auto const now_ms = static_cast<std::uint32_t>(limits_.now_ms());
    line_.for_each([&](op& each) {
        auto& o = static_cast<exec_op&>(each);
        if (o.limit_ms == 0)
            return;
        if (static_cast<std::int32_t>(now_ms - o.due_ms) >= 0)
            give_up_late(o);
        else
            limits_.arm_by(o.due_ms);
    });
}

void request_line::give_up_late(exec_op& o) noexcept {
    if (o.is_asked_when_due)
        return give_up(o, fairlead::error::operation_aborted);
    if (broken_)
        o.first_entry = broken_->ending_of_last();
    give_up(o, error::not_sent_in_time);
}

} // namespace fairlead::redis::impl
