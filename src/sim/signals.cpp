#include "signals.hpp"

#include <cerrno>
#include <new>

#include <signal.h>

namespace fairlead::sim {
namespace {

/// As sigaction: two signals cannot be caught, and two are the C library's own.
bool can_be_caught(int number) noexcept {
    return number >= 1 && number <= signal_source::number_most && number != SIGKILL && number != SIGSTOP &&
           (number < __SIGRTMIN || number >= SIGRTMIN);
}

} // namespace

void signal_source::finish(io::signal_op& o, int error, int number) noexcept {
    if (process_)
        --process_->waits_;
    o.result = {error, 0, static_cast<std::size_t>(number)};
    o.source = nullptr;
    loop_.post(o);
}

/// The lowest number first.
void signal_source::serve() noexcept {
    for (int number = 1; number <= number_most && !waits_.empty();) {
        auto& queued = queued_[static_cast<std::size_t>(number)];
        if (queued == 0) {
            ++number;
            continue;
        }
        --queued;
        finish(static_cast<io::signal_op&>(*waits_.pop_front()), 0, number);
    }
}

std::size_t signal_source::end_all() noexcept {
    std::size_t n = 0;
    for (; !waits_.empty(); ++n)
        finish(static_cast<io::signal_op&>(*waits_.pop_front()), ECANCELED, 0);
    return n;
}

io::outcome signal_source::remove(int number) noexcept {
    if (number < 0 || number > number_most)
        return {EINVAL, 0};
    for (int each = 1; each <= number_most; ++each)
        if (process_ && (number == 0 || number == each))
            process_->forget(*this, each);
    return {0, 0};
}

void signal_source::close() noexcept {
    end_all();
    remove(0);
    if (process_)
        op_queue::unlink(*this);
    delete this;
}

host_signals::~host_signals() {
    for (auto* l = sources_.next; l != &sources_; l = l->next)
        static_cast<signal_source*>(l)->process_ = nullptr;
}

signal_source* host_signals::open(loop& l) noexcept {
    auto* const s = new (std::nothrow) signal_source(*this, l);
    if (!s)
        return nullptr;
    s->next = &sources_;
    s->prev = sources_.prev;
    sources_.prev->next = s;
    sources_.prev = s;
    return s;
}

int host_signals::add(signal_source& s, int number, int flags) noexcept {
    if (!can_be_caught(number))
        return EINVAL;
    auto& a = agreed_[static_cast<std::size_t>(number)];
    if (a.sets != 0 && flags != -1 && a.flags != -1 && flags != a.flags)
        return EINVAL;
    if (s.wants(number))
        return 0;
    if (a.sets == 0 || a.flags == -1)
        a.flags = flags;
    ++a.sets;
    s.wanted_ |= std::uint64_t{1} << (number - 1);
    return 0;
}

void host_signals::forget(signal_source& s, int number) noexcept {
    if (!s.wants(number))
        return;
    auto& a = agreed_[static_cast<std::size_t>(number)];
    if (--a.sets == 0)
        a.flags = -1;
    s.wanted_ &= ~(std::uint64_t{1} << (number - 1));
    s.queued_[static_cast<std::size_t>(number)] = 0;
}

void host_signals::wait(signal_source& s, io::signal_op& o) noexcept {
    o.source = &s;
    ++waits_;
    s.waits_.push_back(o);
    s.serve();
}

bool host_signals::cancel(io::signal_op& o) noexcept {
    if (!o.source)
        return false;
    op_queue::unlink(o);
    static_cast<signal_source*>(o.source)->finish(o, ECANCELED, 0);
    return true;
}

void host_signals::take_pending(op_queue& into) noexcept {
    for (auto* l = sources_.next; l != &sources_; l = l->next) {
        auto& waits = static_cast<signal_source*>(l)->waits_;
        waits.for_each([](op& o) { static_cast<io::signal_op&>(o).source = nullptr; });
        into.splice_back(waits);
    }
    waits_ = 0;
}

void host_signals::end() noexcept {
    for (auto* l = sources_.next; l != &sources_; l = l->next) {
        auto& s = *static_cast<signal_source*>(l);
        s.wanted_ = 0;
        s.queued_ = {};
    }
    agreed_ = {};
}

bool host_signals::raise(int number) noexcept {
    bool is_wanted = false;
    for (auto* l = sources_.next; l != &sources_; l = l->next) {
        auto& s = *static_cast<signal_source*>(l);
        if (number < 1 || number > signal_source::number_most || !s.wants(number))
            continue;
        is_wanted = true;
        ++s.queued_[static_cast<std::size_t>(number)];
        s.serve();
    }
    return is_wanted;
}

} // namespace fairlead::sim
