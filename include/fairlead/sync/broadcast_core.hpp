// The last messages of a sender, for any number of receivers that each get all of them. A sender never waits: a
// receiver that is slow loses the oldest messages, and hears how many.
#pragma once

#include <fairlead/sync/channel_core.hpp>
#include <fairlead/sync/channel_end.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace fairlead::impl::sync {

/// The place of a receiver: the number of the message that it gets next. Under the lock.
struct receiver_position {
    std::uint64_t next = 0;
};

/// A message is copied for each receiver, outside of the lock. Until then they share it.
template <class T> using shared_message = plain_message<std::shared_ptr<T const>>;

/// The number of messages that its receiver has lost is the count of the result.
template <class T> struct broadcast_op : wait_op {
    message_place<shared_message<T>> message; ///< once the op has completed without an error
    receiver_position* position;
};

template <class T> class broadcast_core final : public waited_object, public counted_sides {
public:
    template <class Executor> broadcast_core(Executor const& e, std::size_t capacity)
        : waited_object(e),
          last_(capacity) {}
    ~broadcast_core() { cancel(); }

    bool is_open() const noexcept {
        return domain().look([this] { return !is_closed_; });
    }
    void senders_have_gone() noexcept {
        domain().change([this](op_queue& ready) noexcept {
            is_closed_ = true;
            domain().end_all(*this, operation::result_of(error::channel_closed), ready);
        });
    }
    void receivers_have_gone() noexcept {}
    void send(std::shared_ptr<T const> message) noexcept {
        domain().change([&](op_queue& ready) noexcept {
            last_[sent_ % last_.size()].swap(message); // The oldest one goes without the lock.
            ++sent_;
            let_go(ready);
        });
    }
    /// The position of a receiver that begins with the message after the last one, or so many before that.
    receiver_position begin(std::uint64_t before = 0) const noexcept {
        return {domain().look([&] { return sent_ - before; })};
    }
    receiver_position copy_of(receiver_position const& p) const noexcept {
        return {domain().look([&] { return p.next; })};
    }
    std::shared_ptr<T const> newest() const noexcept {
        return domain().look([this] { return sent_ == 0 ? nullptr : last_[(sent_ - 1) % last_.size()]; });
    }

    // ---- for the primitive below
    bool try_wait(broadcast_op<T>& o) noexcept {
        return domain().look([&] { return finishes(o); });
    }
    void wait(broadcast_op<T>& o) noexcept {
        domain().change([&](op_queue& ready) noexcept {
            if (finishes(o))
                ready.push_back(o);
            else
                domain().append(*this, o);
        });
    }

private:
    bool finishes(broadcast_op<T>& o) noexcept {
        auto& next = o.position->next;
        if (next == sent_) {
            o.result.error = operation::result_of(error::channel_closed); // not 0: it has no message
            return is_closed_;
        }
        std::uint64_t const there = sent_ < last_.size() ? sent_ : last_.size();
        std::uint64_t const lost = sent_ - next > there ? sent_ - next - there : 0;
        next += lost;
        o.message.put(shared_message<T>(std::in_place, last_[next % last_.size()]));
        ++next;
        o.result = {0, 0, lost};
        return true;
    }
    void let_go(op_queue& ready) noexcept override {
        while (!empty() && finishes(static_cast<broadcast_op<T>&>(front()))) {
            auto const result = front().result;
            wait_op& o = front();
            domain().let_first_go(*this, ready);
            o.result = result;
        }
    }

    std::vector<std::shared_ptr<T const>> last_;
    std::uint64_t sent_ = 0;
    bool is_closed_ = false;
};

/// Receives the message at the position of a receiver. Form has the signature, and `values(message, lost)` and
/// `values(error)` of what completes.
template <class T, class Form> struct receive_next : operation::primitive<receive_next<T, Form>> {
    using signature = typename Form::signature;
    using record = broadcast_op<T>;
    static constexpr bool drops = true;
    static constexpr bool is_tried_anywhere = true;

    broadcast_core<T>* of;
    receiver_position* position;

    receive_next(broadcast_core<T>& c, receiver_position& p) noexcept : of(&c), position(&p) {}
    loop* home() const noexcept { return &of->engine(); }
    static std::string describe() { return "receive from a channel"; }
    void prepare(record& o) const noexcept {
        o.cancel = nullptr;
        o.domain = &of->domain();
        o.list = nullptr;
        o.position = position;
    }
    static bool ready() noexcept { return true; }
    bool attempt(record& o) const noexcept { return of->try_wait(o); }
    void submit(record& o) const noexcept { of->wait(o); }
    static void drop(record& o) noexcept {
        if (o.result.error == 0)
            o.message.drop();
    }
    static auto take(record& o) {
        if (o.result.error != 0)
            return Form::values(o.result.error);
        auto const lost = o.result.n;
        return Form::values(**o.message.take(), lost);
    }
};

} // namespace fairlead::impl::sync
