// Channels whose ends are handles, beside their models. Handles are copied, moved and destroyed; the last one on a side
// ends it.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/sync/broadcast.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/sync/oneshot.hpp>
#include <fairlead/sync/watch.hpp>
#include <fairlead/token/detached.hpp>

#include <sim/sync_subject.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

namespace fairlead::test {

/// A message that is counted for as long as it is anywhere.
struct ends_message {
    std::size_t id = 0;
    std::shared_ptr<int> count;
};

/// The receiving side, and the model that a channel and a oneshot share. A wait's amount is the message that it sends
/// or, once it is known, receives; 0: none.
template <class Receiver> class receiving_subject : public sync_subject {
public:
    void settle() override {
        sync_subject::settle();
        drop_senders();
        receivers_.clear();
        check(count_.use_count() == 1, "messages are kept");
    }

protected:
    using receiver = Receiver;
    using sync_subject::sync_subject;

    virtual void drop_senders() = 0;
    ends_message new_message() { return {++last_id_, count_}; }

    void begin_model(std::size_t capacity, receiver r) {
        receivers_.clear();
        receivers_.push_back(std::move(r));
        capacity_ = capacity;
        buffer_.clear();
        is_closed_ = false;
    }
    /// The effect of sending a message; false: it waits, or fails.
    bool takes(std::size_t id) {
        if (is_closed_)
            return false;
        if (!queue_.empty()) {
            give_first(id);
            return true;
        }
        if (!sends_.empty() || buffer_.size() == capacity_)
            return false;
        buffer_.push_back(id);
        return true;
    }
    void close_model() {
        is_closed_ = true;
        while (!queue_.empty())
            give_first(0);
    }
    void act_of_receivers() {
        if (receivers_.empty())
            return;
        switch (below(8)) {
        case 0:
        case 1:
        case 2: receive(); break;
        case 3: try_receive(); break;
        case 4:
            if (receivers_.size() < 3)
                receivers_.push_back(any_receiver());
            break;
        case 5:
            if (below(2) == 0)
                drop_receiver();
            break;
        default:
            if (auto* const w = any_wait()) {
                if (take_from(queue_, *w) || take_from(sends_, *w))
                    w->expected = outcome::is_aborted;
                w->signal.emit(cancellation_type::total);
            }
        }
        if (!receivers_.empty())
            check(any_receiver().ready() == (!buffer_.empty() || !sends_.empty() || is_closed_), "ready() is wrong");
    }
    bool try_receive() {
        auto const expected = gives();
        auto const got = any_receiver().try_next();
        check((got ? got->id : 0) == expected, "try_next() gives another message");
        return got.has_value();
    }
    receiver& any_receiver() { return receivers_[below(static_cast<std::uint32_t>(receivers_.size()))]; }

    std::vector<receiver> receivers_;
    std::deque<wait*> sends_; ///< that wait; receives are in queue_
    std::deque<std::size_t> buffer_;
    std::size_t capacity_ = 0;
    std::size_t receives_open_ = 0;
    bool is_closed_ = false;

private:
    void give_first(std::size_t id) {
        queue_.front()->amount = id;
        queue_.front()->expected = outcome::succeeds;
        queue_.pop_front();
    }
    /// The message that a receive gets now; 0: none.
    std::size_t gives() {
        if (!sends_.empty()) {
            buffer_.push_back(sends_.front()->amount);
            sends_.front()->expected = outcome::succeeds;
            sends_.pop_front();
        }
        if (buffer_.empty())
            return 0;
        auto const first = buffer_.front();
        buffer_.pop_front();
        return first;
    }
    wait& begin_receive() {
        auto& w = new_wait(gives());
        if (w.amount != 0 || is_closed_)
            w.expected = outcome::succeeds;
        else
            queue_.push_back(&w);
        ++receives_open_;
        return w;
    }
    void end_receive(wait const& w, error_code const& ec, std::optional<ends_message> const& m) {
        --receives_open_;
        check(!ec || !m, "a receive that has failed has a message");
        check(ec || (m ? m->id : 0) == w.amount, "a receive gets the message of another one");
    }
    void receive() {
        if (below(3) == 0)
            return co_spawn(any_receiver().get_executor(), await_message(), detached);
        auto& w = begin_receive();
        any_receiver().async_next(
            handler(w, [this, &w](error_code ec, std::optional<ends_message> m) { end_receive(w, ec, m); }));
    }
    /// In a coroutine that nobody can ask to end. It has just been dequeued: its budget does not put the beginning off.
    awaitable<void> await_message() {
        co_await this_coro::yield();
        if (receivers_.empty())
            co_return;
        auto& w = begin_receive();
        w.is_asked = false;
        error_code ec;
        std::optional<ends_message> m;
        try {
            m = co_await any_receiver().next();
        } catch (system_error const& e) {
            ec = e.code();
        }
        this->end(w, ec, [&] { end_receive(w, ec, m); });
    }
    void drop_receiver() {
        if (receivers_.size() == 1) {
            if (receives_open_ != 0)
                return;
            is_closed_ = true;
            buffer_.clear();
            for (wait* w : sends_)
                w->expected = outcome::is_closed;
            sends_.clear();
        } else if (below(2) == 0) {
            receivers_.front() = std::move(receivers_.back());
        }
        receivers_.pop_back();
    }

    std::shared_ptr<int> count_ = std::make_shared<int>();
    std::size_t last_id_ = 0;
};

class message_channel_subject final : public receiving_subject<channel_receiver<ends_message>> {
public:
    message_channel_subject(sim::world& w, ledger& l)
        : receiving_subject(w, l, "channel of handles"),
          context_(w.context()) {
        renew();
    }

    void act() override {
        if (senders_.empty() || below(2) == 0)
            act_of_receivers();
        else
            act_of_senders();
        if (sends_open_ == 0 && receives_open_ == 0 && (is_closed_ || below(40) == 0))
            renew();
    }
    void let_all_end() override {
        for (int i = 0; i != 10 && !receivers_.empty() && (!buffer_.empty() || !sends_.empty()); ++i)
            try_receive();
        for (int i = 0; i != 10 && !senders_.empty() && !queue_.empty(); ++i)
            try_send();
    }

private:
    using sender = channel_sender<ends_message>;

    void drop_senders() override { senders_.clear(); }
    sender& any_sender() { return senders_[below(static_cast<std::uint32_t>(senders_.size()))]; }
    void act_of_senders() {
        switch (below(8)) {
        case 0:
        case 1:
        case 2: send(); break;
        case 3: try_send(); break;
        case 4:
            if (senders_.size() < 3)
                senders_.push_back(any_sender());
            break;
        case 5: drop_sender(); break;
        case 6:
            if (below(8) == 0) {
                close_model();
                any_sender().close();
            }
            break;
        default: break;
        }
        if (!senders_.empty())
            check(any_sender().is_closed() == is_closed_, "it is closed or it is not");
    }
    wait& begin_send(std::size_t id) {
        auto& w = new_wait(id);
        if (is_closed_)
            w.expected = outcome::is_closed;
        else if (takes(w.amount))
            w.expected = outcome::succeeds;
        else
            sends_.push_back(&w);
        ++sends_open_;
        return w;
    }
    void send() {
        if (below(3) == 0)
            return co_spawn(context_, await_room(), detached);
        auto m = new_message();
        auto& w = begin_send(m.id);
        any_sender().async_send(std::move(m), handler(w, [this](error_code) { --sends_open_; }));
    }
    /// As await_message().
    awaitable<void> await_room() {
        co_await this_coro::yield();
        if (senders_.empty())
            co_return;
        auto m = new_message();
        auto& w = begin_send(m.id);
        w.is_asked = false;
        error_code ec;
        try {
            co_await any_sender().send(std::move(m));
        } catch (system_error const& e) {
            ec = e.code();
        }
        end(w, ec, [this] { --sends_open_; });
    }
    void try_send() {
        auto m = new_message();
        bool const expected = takes(m.id);
        check(any_sender().try_send(std::move(m)) == expected, "try_send() is wrong");
        check(expected || m.count, "try_send() takes a message that it does not send");
    }
    void drop_sender() {
        if (senders_.size() == 1) {
            if (sends_open_ != 0)
                return;
            close_model();
        } else if (below(2) == 0) {
            senders_.front() = std::move(senders_.back());
        }
        senders_.pop_back();
    }
    void renew() {
        auto const capacity = below(4);
        auto ends = make_channel<ends_message>(context_, capacity);
        senders_.clear();
        senders_.push_back(std::move(ends.first));
        begin_model(capacity, std::move(ends.second));
    }

    io_context& context_;
    std::vector<sender> senders_;
    std::size_t sends_open_ = 0;
};

class oneshot_subject final : public receiving_subject<oneshot_receiver<ends_message>> {
public:
    oneshot_subject(sim::world& w, ledger& l) : receiving_subject(w, l, "oneshot"), context_(w.context()) { renew(); }

    void act() override {
        if (below(4) != 0)
            act_of_receivers();
        else if (below(2) == 0)
            send();
        else if (below(2) == 0)
            drop_senders();
        check(!sender_ || sender_->is_closed() == is_closed_, "it is closed or it is not");
        if (receives_open_ == 0 && (is_closed_ || below(40) == 0))
            renew();
    }
    void let_all_end() override { drop_senders(); }

private:
    void send() {
        if (!sender_)
            return;
        auto m = new_message();
        bool const expected = takes(m.id);
        if (expected)
            close_model();
        check(sender_->send(std::move(m)) == expected, "send() is wrong");
    }
    void drop_senders() override {
        if (sender_)
            close_model();
        sender_.reset();
    }
    void renew() {
        auto ends = make_oneshot<ends_message>(context_);
        sender_.emplace(std::move(ends.first));
        begin_model(1, std::move(ends.second));
    }

    io_context& context_;
    std::optional<oneshot_sender<ends_message>> sender_;
};

/// A broadcast or a watch. Messages have the numbers 1, 2, 3 ...
template <bool IsWatch> class broadcast_subject final : public sync_subject {
public:
    broadcast_subject(sim::world& w, ledger& l)
        : sync_subject(w, l, IsWatch ? "watch" : "broadcast"),
          context_(w.context()) {
        renew();
    }

    void act() override {
        if (receivers_.size() < 4 && !senders_.empty() && below(6) == 0)
            subscribe();
        switch (below(8)) {
        case 0:
        case 1: send(); break;
        case 2:
        case 3: act_of(any_receiver()); break;
        case 4: receive(any_receiver()); break;
        case 5:
            if (auto* const w = any_wait()) {
                for (auto& r : receivers_)
                    if (r->waits == w) {
                        w->expected = outcome::is_aborted;
                        r->waits = nullptr;
                    }
                w->signal.emit(cancellation_type::partial);
            }
            break;
        case 6:
            if (senders_.empty())
                break;
            if (below(2) == 0)
                senders_.push_back(senders_.front());
            else if (senders_.size() > 1 || below(6) == 0)
                drop_sender();
            break;
        default:
            if (receivers_.size() > 1)
                drop(below(static_cast<std::uint32_t>(receivers_.size())));
        }
        if (!senders_.empty()) {
            check(senders_.back().receivers() == receivers_.size(), "receivers() is wrong");
            if constexpr (IsWatch)
                check(senders_.back().get().id == sent_ && any_receiver().end->get().id == sent_, "get() is old");
        }
        if (senders_.empty() &&
            std::all_of(receivers_.begin(), receivers_.end(), [](auto const& r) { return r->open == 0; }))
            renew();
    }
    void let_all_end() override {
        while (!senders_.empty())
            drop_sender();
    }
    void settle() override {
        sync_subject::settle();
        senders_.clear();
        receivers_.clear();
        check(count_.use_count() == 1, "messages are kept");
    }

private:
    using sender = std::conditional_t<IsWatch, watch_sender<ends_message>, broadcast_sender<ends_message>>;
    using receiver = std::conditional_t<IsWatch, watch_receiver<ends_message>, broadcast_receiver<ends_message>>;
    struct received {
        std::optional<receiver> end;
        std::size_t next;      ///< of the model: the message that it gets next
        wait* waits = nullptr; ///< its receive, as long as nothing has come for it
        int open = 0;          ///< receives that have not ended
    };

    received& any_receiver() { return *receivers_[below(static_cast<std::uint32_t>(receivers_.size()))]; }
    void subscribe() {
        auto& r = *receivers_.emplace_back(std::make_unique<received>());
        r.end.emplace(senders_.back().subscribe());
        r.next = sent_ + (IsWatch ? 0 : 1);
    }
    void send() {
        if (senders_.empty())
            return;
        ++sent_;
        for (auto& r : receivers_)
            if (auto* const w = std::exchange(r->waits, nullptr)) {
                w->amount = sent_;
                w->expected = outcome::succeeds;
                r->next = sent_ + 1;
            }
        senders_[below(static_cast<std::uint32_t>(senders_.size()))].send(ends_message{sent_, count_});
    }
    /// An end is copied, or moved, also while it waits.
    void act_of(received& r) {
        if (below(2) == 0) {
            auto moved = std::move(*r.end);
            r.end.emplace(std::move(moved));
        } else if (receivers_.size() < 4) {
            auto copy = std::make_unique<received>();
            copy->end.emplace(*r.end);
            copy->next = r.next;
            receivers_.push_back(std::move(copy));
        }
    }
    void receive(received& r) {
        if (r.open != 0)
            return;
        auto& w = new_wait();
        std::size_t lost = 0;
        if (r.next <= sent_) {
            auto const oldest = sent_ - std::min(sent_, capacity_) + 1;
            lost = r.next < oldest ? oldest - r.next : 0;
            w.amount = r.next + lost;
            w.expected = outcome::succeeds;
            r.next = w.amount + 1;
        } else if (senders_.empty()) {
            w.expected = outcome::succeeds;
        } else {
            r.waits = &w;
        }
        ++r.open;
        r.end->async_next(handler(w, [this, &w, &r, lost](error_code ec, auto m) {
            --r.open;
            check(!ec || !m, "a receive that has failed has a message");
            if (ec)
                return;
            std::size_t id = 0, told = lost;
            if (m) {
                if constexpr (IsWatch)
                    id = m->id;
                else
                    id = m->value.id, told = m->lost;
            }
            check(id == w.amount, "a receive gets another message");
            check(told == lost, "a receiver is told wrongly how many it has lost");
        }));
    }
    void drop(std::size_t i) {
        if (receivers_[i]->open == 0)
            receivers_.erase(receivers_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    void drop_sender() {
        senders_.pop_back();
        if (!senders_.empty())
            return;
        for (auto& r : receivers_)
            if (auto* const w = std::exchange(r->waits, nullptr))
                w->expected = outcome::succeeds;
    }
    void renew() {
        receivers_.clear();
        capacity_ = IsWatch ? 1 : 1 + below(4);
        sent_ = IsWatch ? 1 : 0;
        if constexpr (IsWatch)
            senders_.emplace_back(any_io_executor(context_.get_executor()), ends_message{1, count_});
        else
            senders_.emplace_back(any_io_executor(context_.get_executor()), capacity_);
        subscribe();
    }

    io_context& context_;
    std::shared_ptr<int> count_ = std::make_shared<int>();
    std::vector<sender> senders_;
    std::vector<std::unique_ptr<received>> receivers_;
    std::size_t sent_ = 0, capacity_ = 0;
};

} // namespace fairlead::test
