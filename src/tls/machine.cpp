#include <tls/machine.hpp>

#include <fairlead/io/deadline.hpp>
#include <fairlead/io/transfer.hpp>

#include <tls/settings.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

#include <netinet/in.h>

namespace fairlead::ssl::impl {
namespace {

constexpr std::size_t control = 0, writer = 1, reader = 2;

} // namespace

template <class From> machine::machine(From&& from, below_ref b)
    : byte_stream(b.engine_ref(), true, nullptr, " of TLS"),
      engine_(std::forward<From>(from)),
      below_(std::move(b)) {}
machine::~machine() { FAIRLEAD_ASSERT(!write_); }

std::size_t machine::place_of(stream_verb v) noexcept {
    using enum stream_verb;
    return v == read ? reader : v == write || v == shutdown_send ? writer : control;
}

void machine::end(stream_op& o, error_code const& ec) noexcept { o.fail(ec); }

bool machine::is_refused(stream_op& o) noexcept {
    if (!waiting_[place_of(o.verb)])
        return false;
    end(o, fairlead::error::already_started);
    return true;
}

bool machine::wants_input() const noexcept {
    for (std::size_t i = 0; i != waiting_.size(); ++i)
        if (waiting_[i] && waits_for_input_[i])
            return true;
    return false;
}

namespace {

/// The first bytes that an op still has to move.
io::slice next_of(stream_op& o) noexcept {
    if (!o.slices)
        return {o.data, o.size};
    io::advance(o, 0); // over buffers that are empty
    return *static_cast<io::slice const*>(o.data);
}

} // namespace

/// A record that is alone need not be copied. The machine writes what is left of it.
class machine::direct_writer final : public outlet {
public:
    explicit direct_writer(machine& m) noexcept : machine_(m) {}
    std::size_t write_now(void const* from, std::size_t n) noexcept override { return machine_.write_now(from, n); }

private:
    machine& machine_;
};
std::size_t machine::write_now(void const* from, std::size_t n) noexcept {
    auto& w = writing_;
    if (w.is_under_way || w.has_failed() || has_left_ || !flying_.empty() || !engine_.output.empty())
        return 0;
    stream_op o;
    begin_below(o, stream_verb::write, io::kind::send_all, const_cast<void*>(from), n);
    if (try_write_below(o)) {
        w.is_dropped = false;
        if (o.result.error)
            w.fail(o.error());
    }
    return std::min(o.result.n, n);
}

/// A handshake may bring bytes that somebody has read already. False: there is no space for them.
bool machine::takes_bytes(stream_op& o) noexcept {
    if (o.size == 0 || o.kind == io::kind::receive)
        return true;
    if (io::total_of(o) > engine_.input.space_left()) {
        end(o, fairlead::error::no_buffer_space);
        return false;
    }
    while (!io::moves_nothing(o)) {
        auto const next = next_of(o);
        if (!engine_.input.put(next.base, next.size)) { // Only the first: then there is a place for all of them.
            end(o, fairlead::error::no_memory);
            return false;
        }
        o.result.n += next.size;
        io::advance(o, next.size);
    }
    return true;
}
/// One that receives is for early data, and goes only so far.
progress machine::handshake_step(stream_op& o) noexcept {
    if (o.kind == io::kind::receive) {
        std::size_t n = 0;
        auto const p = engine_.read_early(o.data, o.size, n);
        o.result.n = n;
        return p;
    }
    bool const may_resume = o.is_client && !engine_.has_begun() && keeps_sessions(engine_.native_handle());
    return engine_.handshake(o.is_client, may_resume ? port_of_peer() : 0);
}
/// 0: there is none, or nobody knows it.
unsigned machine::port_of_peer() noexcept {
    auto* const s = below_.socket();
    sockaddr_storage found{};
    if (!s || engine().descriptors().address(s->handle, io::name_of::peer, &found, sizeof found).error != 0)
        return 0;
    if (found.ss_family == AF_INET)
        return ntohs(reinterpret_cast<sockaddr_in const&>(found).sin_port);
    return found.ss_family == AF_INET6 ? ntohs(reinterpret_cast<sockaddr_in6 const&>(found).sin6_port) : 0;
}

progress machine::read_step(stream_op& o) noexcept {
    auto p = progress::done;
    do {
        std::size_t n = 0;
        auto const into = next_of(o);
        p = engine_.read(into.base, into.size, n);
        o.result.n += n;
        io::advance(o, n);
    } while (p == progress::done && o.kind == io::kind::receive_all && !io::moves_nothing(o));
    return p;
}

progress machine::write_step(stream_op& o) noexcept {
    engine_.keeps_write_buffer = !reading_.is_under_way; // Else no read gives it back when it waits.
    auto p = progress::done;
    while (p == progress::done && !io::moves_nothing(o)) {
        std::size_t n = 0;
        auto const from = next_of(o);
        bool const is_alone = from.size <= engine::content_most && from.size == io::total_of(o);
        direct_writer direct(*this);
        p = engine_.write(from.base, from.size, n, is_alone ? &direct : nullptr); // Several are written together.
        o.result.n += n;
        io::advance(o, n);
    }
    return o.result.n != 0 && o.kind == io::kind::send ? progress::done : p;
}

/// The stream below takes no more. A peer that refuses this end says why in an alert before it goes. Nobody may have
/// read that yet.
void machine::end_unwritten(stream_op& o) noexcept {
    auto const ec = writing_.failure();
    bool const has_gone = ec == fairlead::error::connection_reset || ec == fairlead::error::broken_pipe;
    end(o, has_gone && finds_alert() ? engine_.failure() : ec);
}
bool machine::finds_alert() noexcept {
    if (reading_.is_under_way || wants_input()) // That read reports it.
        return false;
    take_landed();
    if (engine_.input.empty())
        look_for_more();
    bool const is_found = engine_.finds_alert();
    give_back_input();
    return is_found;
}
/// One read, which waits for nothing. In any thread: an attempt by the loop is for its owner, and may be put off.
void machine::look_for_more() noexcept {
    auto* const s = below_.socket();
    if (reading_.has_failed() || engine_.input_ended || has_left_ || !tries_below() || !engine_.input.borrow())
        return;
    begin_read(engine_.input.space(), lent_memory::capacity);
    if (s)
        engine().descriptors().perform(read_, false);
    else if (!below_.stream().try_now(read_))
        return;
    if (!read_.result.error || read_.error() != fairlead::error::would_block)
        has_read();
}

/// One step of the engine. An op that has only to be written is done when nothing is left to be written.
bool machine::step(stream_op& o) noexcept {
    bool& waits_for_input = waits_for_input_[place_of(o.verb)];
    waits_for_input = false;
    auto const is_written = [&] {
        if (engine_.output.empty() && flying_.empty())
            return true;
        if (!writing_.has_failed())
            return false;
        if (!o.result.error) // Else the first error tells more.
            end_unwritten(o);
        return true;
    };
    if (o.is_sent)
        return is_written();
    bool const reads_nothing = o.verb == stream_verb::read && io::moves_nothing(o);
    if (o.verb != stream_verb::handshake && !reads_nothing && engine_.awaits_handshake()) {
        end(o, fairlead::error::not_connected); // The stream stays as it is.
        return true;
    }
    auto p = progress::done;
    switch (o.verb) {
    case stream_verb::handshake:
        if (!takes_bytes(o))
            return true;
        p = handshake_step(o);
        break;
    case stream_verb::shutdown: p = engine_.shutdown(); break;
    case stream_verb::shutdown_send: p = engine_.shutdown_send(); break;
    case stream_verb::read:
        if (reads_nothing)
            return true;
        p = read_step(o);
        break;
    case stream_verb::write: p = write_step(o); break;
    }
    switch (p) {
    case progress::done:
        if (o.verb == stream_verb::read)
            return true;
        o.is_sent = true;
        return is_written();
    case progress::closed:
        end(o, o.kind == io::kind::receive || o.kind == io::kind::receive_all
                   ? error_code(fairlead::error::eof)
                   : error_code(fairlead::error::broken_pipe));
        return true;
    case progress::failed:
        end(o, engine_.failure());
        o.is_sent = true; // The alert for the peer goes first.
        return o.verb == stream_verb::read || is_written();
    case progress::wants_output:
        if (!writing_.has_failed())
            return false;
        end_unwritten(o);
        return true;
    case progress::wants_input:
        if (!reading_.is_under_way && !landing_.bytes.empty()) { // Else another thread may be filling it.
            take_landed();
            return step(o);
        }
        if (reading_.has_failed()) {
            end(o, reading_.failure());
            return true;
        }
        waits_for_input = true;
        return false;
    case progress::wants_reader: is_held_ = true; return false;
    }
    return false;
}

bool machine::has_waiting() const noexcept { return waiting_[control] || waiting_[writer] || waiting_[reader]; }

/// The reader comes first: others may not be able to go on before bytes of the peer's are read.
void machine::step_all(op_queue& done) noexcept {
    is_held_ = false;
    std::size_t before = 0;
    do {
        before = engine_.input.size();
        for (auto const i : {reader, control, writer})
            if (auto*& o = waiting_[i]; o && step(*o))
                done.push_back(*std::exchange(o, nullptr));
        // Bytes that one has left may be for another one.
    } while (!engine_.input.empty() && engine_.input.size() != before && has_waiting());
}

/// The op knows the machine, which for it stands for the stream below.
void machine::begin_below(stream_op& o, stream_verb v, io::kind k, void* d, std::size_t n) noexcept {
    o.begin(*this, v, k, d, n);
    o.run = &run_way;
    if (auto* const s = below_.socket()) {
        o.is_socket = true;
        o.handle = s->handle;
    }
}
bool machine::try_at_socket(stream_op& o) noexcept {
    fairlead::impl::exec::section const s; // Nobody takes the loop, or ends a share of it, meanwhile.
    auto& r = engine().reactor();
    return engine().may_try(s) && r.ready(o.handle, o.kind, o.size) && r.try_now(o);
}
bool machine::tries_below() const noexcept { return below_.socket() || below_.stream().tries(); }
bool machine::try_read_below() noexcept {
    return below_.socket() ? try_at_socket(read_) : below_.stream().try_now(read_);
}
bool machine::try_write_below(stream_op& o) noexcept {
    return below_.socket() ? try_at_socket(o) : below_.stream().try_write(o);
}
void machine::perform_below(stream_op& o) noexcept {
    if (auto* const s = below_.socket())
        engine().descriptors().perform(o, !s->user_non_blocking);
    else
        below_.stream().perform(o);
}
void machine::submit_below(direction& d, stream_op& o) noexcept {
    d.is_under_way = true;
    d.is_dropped = false;
    o.cancel = reinterpret_cast<void*>(fairlead::impl::operation::next_ticket());
    retain();
    if (o.is_socket)
        engine().submit(o);
    else
        below_.stream().submit(o);
}
/// False: no memory.
bool machine::submit_write(stream_op const& o) noexcept {
    void* const place = fairlead::impl::exec::recycle_take_or_null(sizeof(stream_op));
    if (!place) {
        writing_.fail(fairlead::error::no_memory);
        return false;
    }
    write_ = ::new (place) stream_op(o);
    submit_below(writing_, *write_);
    return true;
}
void machine::free_write() noexcept {
    fairlead::impl::exec::recycle_free_sized(std::exchange(write_, nullptr), sizeof(stream_op));
}

/// True: there is something to be written, and nothing is being written.
bool machine::prepare_write(stream_op& o) noexcept {
    if (writing_.is_under_way || writing_.has_failed())
        return false;
    if (flying_.empty())
        std::swap(flying_, engine_.output);
    if (flying_.empty())
        return false;
    begin_below(o, stream_verb::write, io::kind::send_all, flying_.data(), flying_.size());
    return true;
}

/// True: something has been written.
bool machine::write_below() noexcept {
    if (flying_.empty() && engine_.output.empty())
        return false;
    bool const is_put_off = writing_.is_dropped && !waiting_[control] && !waiting_[writer];
    stream_op o;
    if (is_put_off || has_left_ || !prepare_write(o))
        return false;
    if (tries_left_ == 0 || !try_write_below(o))
        return !submit_write(o); // Without memory those that wait find the failure.
    --tries_left_;
    writing_.is_dropped = false;
    wrote(o);
    return true;
}

void machine::wrote(stream_op& o) noexcept {
    flying_.consume(std::min(o.result.n, flying_.size()));
    if (o.result.error && o.error() != fairlead::error::operation_aborted)
        writing_.fail(o.error());
    if (flying_.empty() && engine_.output.empty()) {
        flying_.give_back();
        engine_.output.give_back();
    }
}

void machine::begin_read(std::byte* into, std::size_t size) noexcept {
    is_first_read_ = first_ && into == first_->bytes.data(); // A stream may change what the op says.
    begin_below(read_, stream_verb::read, io::kind::receive, into, size);
}

/// False: no memory, which the engine's next step finds out.
bool machine::prepare_read() noexcept {
    auto& into = engine_.input;
    if (into.borrow())
        begin_read(into.space(), lent_memory::capacity);
    else
        reading_.fail(fairlead::error::no_memory);
    return !reading_.has_failed();
}

/// True: there is something for the engine to look at.
bool machine::try_read() noexcept {
    if (!prepare_read())
        return true;
    if (!try_read_below())
        return false;
    has_read();
    return true;
}

/// It holds little memory, or none, until there are bytes. False: no memory.
bool machine::begin_waiting_read() noexcept {
    if (below_.socket()) {
        engine_.input.give_back();
        begin_below(read_, stream_verb::read, io::kind::receive_lent, static_cast<io::lender*>(&landing_),
                    lent_memory::capacity);
        return true;
    }
    if (!tries_below())
        return prepare_read();
    engine_.input.give_back();
    if (!first_)
        first_.reset(new (std::nothrow) first_bytes);
    if (first_) // The rest of a longer message is read when the first part is here.
        begin_read(first_->bytes.data(), first_->bytes.size());
    else
        reading_.fail(fairlead::error::no_memory);
    return first_ != nullptr;
}

/// True, as above. Else a read is under way, or nobody wants one.
bool machine::read_below() noexcept {
    if (reading_.is_under_way || has_left_ || !wants_input())
        return false;
    if (tries_left_ != 0 && try_read()) {
        --tries_left_;
        return true;
    }
    if (!begin_waiting_read())
        return true;
    engine_.release_write_buffer();
    submit_below(reading_, read_);
    return false;
}

/// After an answer comes a read, and mostly nothing has come yet. The whole attempt says the same after four times as
/// many instructions.
bool machine::reads_in_vain(stream_op& o) noexcept {
    bool const has_looked = o.verb == stream_verb::read && std::exchange(o.is_sent, false);
    if (o.verb != stream_verb::read || !below_.socket() || !engine_.is_out_of_bytes() || io::moves_nothing(o))
        return false;
    if (reading_.has_failed() || !flying_.empty() || !engine_.output.empty())
        return false;
    if (reading_.is_under_way) // Another thread may be filling its memory.
        return true;
    if (has_looked || !landing_.bytes.empty()) // The driver looks again.
        return landing_.bytes.empty();
    fairlead::impl::exec::section const s;
    return !engine().may_try(s) ||
           !engine().reactor().ready(below_.socket()->handle, io::kind::receive, lent_memory::capacity);
}

/// Of a read in vain. At a socket that needs no memory.
void machine::wait_for_bytes() noexcept {
    waits_for_input_[reader] = true;
    if (reading_.is_under_way)
        return;
    begin_waiting_read();
    engine_.release_write_buffer();
    submit_below(reading_, read_);
}

void machine::drop(direction& d) noexcept {
    if (!d.is_under_way || d.is_blocking || d.is_dropped)
        return;
    d.is_dropped = true;
    auto& o = &d == &writing_ ? *write_ : read_;
    if (o.is_socket)
        engine().ask(o.handle, o);
    else
        below_.stream().cancel(o);
}
void machine::drop_unwanted_read() noexcept {
    if (!wants_input())
        drop(reading_);
}

void machine::has_read() noexcept {
    auto& into = engine_.input;
    auto const n = read_.result.n;
    if (read_.kind == io::kind::receive_lent) {
        landing_.bytes.commit(n);
        if (n != 0)
            take_landed();
        else
            landing_.bytes.give_back();
    } else if (!is_first_read_) {
        into.commit(n);
    } else if (n != 0 && !into.put(first_->bytes.data(), n)) {
        reading_.fail(fairlead::error::no_memory);
    }
    if (!read_.result.error)
        return;
    auto const ec = read_.error();
    if (ec == fairlead::error::eof)
        engine_.input_ended = true;
    else if (ec != fairlead::error::operation_aborted)
        reading_.fail(ec);
}

/// Others may have left bytes unread meanwhile. Then these wait.
void machine::take_landed() noexcept {
    if (!engine_.input.empty())
        return;
    engine_.input.give_back();
    engine_.input = std::move(landing_.bytes);
}

/// All that has come is decrypted, and nobody waits for more.
void machine::give_back_input() noexcept {
    if (engine_.input.empty() && !reading_.is_under_way)
        engine_.input.give_back();
}

void machine::go_on(op_queue& done) noexcept {
    tries_left_ = tries_in_a_row;
    do
        step_all(done);
    while (write_below() || read_below());
    drop_unwanted_read();
    drop_limit();
    give_back_input();
}

void machine::begin_limit(stream_op& o) noexcept {
    auto const later = [this](std::int64_t ns) { return io::impl::later_ns(engine(), ns); };
    if (o.verb == stream_verb::shutdown) {
        limit_ns_ = later(shutdown_timeout_ns_of(engine_.native_handle()));
    } else if (o.verb == stream_verb::handshake) {
        if (handshakes_until_ns_ == 0)
            handshakes_until_ns_ = later(handshake_timeout_ns_of(engine_.native_handle()));
        limit_ns_ = handshakes_until_ns_;
    }
}
/// One whose timer is still being dropped gets it anew when that is over.
void machine::set_limit(op_queue& done) noexcept {
    if (!waiting_[control] || limit_ || limit_ns_ == INT64_MAX)
        return;
    limit_.reset(new (std::nothrow) limit(this));
    if (!limit_)
        return withdraw(*waiting_[control], fairlead::error::no_memory, done);
    limit_->deadline_ns = limit_ns_;
    limit_->result = {0, 0, 0};
    limit_->cancel = reinterpret_cast<void*>(fairlead::impl::operation::next_ticket());
    retain();
    engine().arm(*limit_);
}
void machine::drop_limit() noexcept {
    if (!limit_ || limit_->is_dropped || waiting_[control])
        return;
    limit_->is_dropped = true;
    engine().ask(*limit_);
}

/// Nobody knows what is still to come of a handshake. After a shutdown the stream can be read all the same.
error_code machine::is_late(stream_op const& o) noexcept {
    if (o.verb == stream_verb::shutdown)
        return error::shutdown_timed_out;
    engine_.give_up_handshake();
    return engine_.failure();
}
/// The timer has completed, for one reason or another.
void machine::is_due(op_mode mode) noexcept {
    op_queue done;
    {
        std::lock_guard const lock(lock_);
        auto const ended = std::exchange(limit_, nullptr);
        auto* const o = waiting_[control];
        if (mode == op_mode::abandon || has_left_)
            end_all(done);
        else if (o && (ended->is_dropped || ended->result.error == ECANCELED))
            set_limit(done); // Of another operation than the one that has dropped it.
        else if (o)
            withdraw(*o, ended->result.error == 0 ? is_late(*o) : fairlead::error::no_memory, done);
    }
    finish(done);
    release();
}
void machine::run_limit(op* o, op_mode mode) { static_cast<limit&>(static_cast<io::timer_op&>(*o)).of->is_due(mode); }

/// After the lock: ops may go as soon as they are posted, and this with them.
void machine::finish(op_queue& done) noexcept {
    auto& l = engine();
    while (!done.empty())
        l.post(*done.pop_front());
}

/// A read has taken bytes for which another operation waits.
void machine::go_on_with_held(std::unique_lock<fairlead::impl::exec::short_lock>& lock) noexcept {
    if (!is_held_)
        return;
    op_queue done;
    go_on(done);
    lock.unlock();
    finish(done);
}

/// The caller keeps others from its loop: it may not wait for one that has the lock.
bool machine::try_now(stream_op& o) noexcept {
    std::unique_lock lock(lock_, std::try_to_lock);
    if (!lock)
        return false;
    if (is_refused(o))
        return true;
    if (reads_in_vain(o)) {
        o.is_sent = true; // Tells submit(), which comes next.
        return false;
    }
    tries_left_ = tries_in_a_row;
    auto*& place = waiting_[place_of(o.verb)];
    place = &o; // For the time of the attempt: it wants what it wants.
    for (;;) {
        if (step(o)) {
            place = nullptr;
            write_below(); // an alert, for instance
            give_back_input();
            go_on_with_held(lock);
            return true;
        }
        // Bytes of both directions stay with the machine, so that nothing is lost if they are not enough.
        if (writing_.is_under_way || !write_below()) {
            if (!waits_for_input_[place_of(o.verb)] || reading_.is_under_way)
                break;
            if (!try_read()) {
                engine_.input.give_back();
                break;
            }
        }
    }
    place = nullptr;
    return false;
}

void machine::submit(stream_op& o) noexcept {
    op_queue done;
    retain();
    {
        std::lock_guard const lock(lock_);
        if (is_refused(o)) {
            done.push_back(o);
        } else {
            waiting_[place_of(o.verb)] = &o;
            if (reads_in_vain(o)) {
                wait_for_bytes();
            } else {
                begin_limit(o);
                go_on(done);
                set_limit(done);
            }
        }
    }
    finish(done);
    release();
}

/// Without the lock while it waits: another thread may do the same in the other direction.
void machine::perform(stream_op& o) noexcept {
    for (;;) {
        std::unique_lock lock(lock_);
        if (is_refused(o))
            return;
        bool const is_done = step(o);
        stream_op written;
        bool const writes = !(is_done && !o.is_sent) && prepare_write(written);
        if (!writes) { // Else also of a read that has failed: the alert for the peer goes out.
            if (is_done)
                return go_on_with_held(lock);
            if (!waits_for_input_[place_of(o.verb)] || reading_.is_under_way)
                return end(o, fairlead::error::already_started);
            if (!engine_.input.borrow())
                return end(o, fairlead::error::no_memory);
            begin_read(engine_.input.space(), lent_memory::capacity);
        }
        auto& d = writes ? writing_ : reading_;
        auto& w = writes ? written : read_;
        d.is_under_way = d.is_blocking = true;
        lock.unlock();
        perform_below(w);
        lock.lock();
        d.is_under_way = d.is_blocking = false;
        bool const would_block = w.result.error && w.error() == fairlead::error::would_block;
        if (would_block) { // It says nothing of the stream below.
            w.result.error = 0;
            d.is_dropped = true; // The rest of a write waits for the next one.
            if (!o.result.error)
                end(o, fairlead::error::would_block);
        }
        writes ? wrote(w) : has_read();
        op_queue done;
        go_on(done); // for operations that wait meanwhile
        lock.unlock();
        finish(done);
        if (would_block)
            return;
    }
}

void machine::cancel(stream_op& o) noexcept {
    op_queue done;
    retain();
    {
        std::lock_guard const lock(lock_);
        if (waiting_[place_of(o.verb)] == &o)
            withdraw(o, fairlead::error::operation_aborted, done);
    }
    finish(done);
    release();
}

void machine::withdraw(stream_op& o, error_code const& ec, op_queue& done) noexcept {
    waiting_[place_of(o.verb)] = nullptr;
    end(o, ec);
    done.push_back(o);
    if (!waiting_[control] && !waiting_[writer])
        drop(writing_);
    drop_unwanted_read();
    drop_limit();
}

void machine::has_news(stream_op& o, op_mode mode) noexcept {
    op_queue done;
    {
        std::lock_guard const lock(lock_);
        bool const has_written = &o == write_;
        auto& d = has_written ? writing_ : reading_;
        d.is_under_way = false;
        if (mode == op_mode::abandon || has_left_) {
            end_all(done); // The loop is being given up.
        } else {
            has_written ? wrote(o) : has_read();
            // Somebody has cancelled the operations of the stream below, and means ours.
            if (!d.is_dropped && o.result.error && o.error() == fairlead::error::operation_aborted) {
                d.is_dropped = true;
                give_up(done, !has_written);
            }
        }
        if (has_written)
            free_write();
        if (mode != op_mode::abandon && !has_left_)
            go_on(done);
    }
    finish(done);
    release();
}

void machine::end_all(op_queue& done) noexcept {
    for (auto*& o : waiting_)
        if (o) {
            end(*o, fairlead::error::operation_aborted);
            done.push_back(*std::exchange(o, nullptr));
        }
}

/// Ends those that wait for this direction.
void machine::give_up(op_queue& done, bool is_reading) noexcept {
    for (std::size_t i = 0; i != waiting_.size(); ++i)
        if (auto*& o = waiting_[i]; o && (is_reading ? waits_for_input_[i] : o->is_sent)) {
            end(*o, fairlead::error::operation_aborted);
            done.push_back(*std::exchange(o, nullptr));
        }
}

void machine::run_way(op* o, op_mode mode) {
    auto& below = static_cast<stream_op&>(*o);
    static_cast<machine*>(below.of)->has_news(below, mode);
}

void machine::leave() noexcept {
    op_queue done;
    {
        std::lock_guard const lock(lock_);
        has_left_ = true;
        end_all(done);
        drop(reading_);
        drop(writing_);
        drop_limit();
        below_.forget();
    }
    finish(done);
    release();
}

stream_core::stream_core(context& c, below_ref b) : bytes_(new machine(c, std::move(b))) {}
stream_core::stream_core(ssl_st* s, below_ref b) : bytes_(new machine(s, std::move(b))) {}
stream_core::~stream_core() {
    if (bytes_)
        own().leave();
}
machine& stream_core::own() const noexcept { return static_cast<machine&>(*bytes_); }
bool stream_core::is_resumed() const noexcept { return SSL_session_reused(native_handle()) == 1; }
std::string_view stream_core::protocol_version() const noexcept { return SSL_get_version(native_handle()); }
ssl_st* stream_core::native_handle() const noexcept { return own().tls().native_handle(); }
void stream_core::is_at(void* below) noexcept {
    if (bytes_)
        own().below().is_at(below);
}
error_code stream_core::set_host_name(std::string const& name) noexcept { return own().tls().set_host_name(name); }
// OpenSSL would take a mode, a depth or a callback after the handshake, for renegotiations and certificates that a
// server asks for later. Both are off.
error_code stream_core::set_verify_mode(verify_mode v) noexcept {
    if (own().tls().is_settled())
        return fairlead::error::already_started;
    auto* const s = native_handle();
    if (auto const ec = note_verify_mode(s))
        return ec;
    SSL_set_verify(s, completed(v), SSL_get_verify_callback(s));
    return {};
}
error_code stream_core::set_verify_depth(int depth) noexcept {
    if (own().tls().is_settled())
        return fairlead::error::already_started;
    if (auto const ec = note_verify_depth(native_handle()))
        return ec;
    SSL_set_verify_depth(native_handle(), depth);
    return {};
}
error_code stream_core::verify_with(verify_function f) noexcept {
    if (own().tls().is_settled())
        return fairlead::error::already_started;
    return keep_verify_function(native_handle(), std::move(f));
}
} // namespace fairlead::ssl::impl
