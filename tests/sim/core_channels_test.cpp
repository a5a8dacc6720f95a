// Channels under many seeds, beside a model of them. Messages are sent and received, waits cancelled, channels closed,
// reset and destroyed at random, from between the turns and from handlers.
#include <fairlead/sim/seeds.hpp>
#include <fairlead/sync/channel.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using sim::world;

/// A message that is counted for as long as it is anywhere.
struct counted_message {
    int id = 0;
    std::shared_ptr<int> count;
};
using counted_channel = experimental::channel<void(error_code, counted_message)>;

enum class outcome_of_wait { none, done, closed, cancelled };

outcome_of_wait outcome_of(error_code ec) {
    return !ec                              ? outcome_of_wait::done
           : ec == error::channel_closed    ? outcome_of_wait::closed
           : ec == error::channel_cancelled ? outcome_of_wait::cancelled
                                            : outcome_of_wait::none;
}

struct wait_of_channel {
    bool is_send;
    int id; ///< of the message that is sent or, once it is known, received
    outcome_of_wait expected = outcome_of_wait::none;
    int calls = 0;
    cancellation_signal signal;
};

class modelled_channel {
public:
    explicit modelled_channel(world& w)
        : world_(w),
          capacity_(w.random().below(4)),
          channel_(std::in_place, w.context(), capacity_) {
        auto const acts = w.choose("acts", 1, 500);
        for (std::uint64_t i = 0; i != acts; ++i)
            w.at(std::chrono::microseconds(below(5'000)), [this] { act(); });
    }
    std::string faults;

    void settle() {
        is_settling_ = true;
        cancel_all();
        channel_->cancel();
        world_.run();
        for (auto const& w : waits_)
            if (w->calls != 1)
                faults += "a wait was completed " + std::to_string(w->calls) + " times; ";
        while (try_receive()) {
        }
        if (!buffer_.empty())
            faults += "messages were lost; ";
        if (count_.use_count() != 1)
            faults += "messages were kept; ";
    }
    std::size_t waits() const { return waits_.size(); }

private:
    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }
    counted_message message() { return {++last_id_, count_}; }

    void act() {
        if (is_settling_)
            return;
        switch (below(24)) {
        case 0:
            is_closed_ = true;
            end_waiting(false, outcome_of_wait::closed);
            channel_->close();
            break;
        case 1:
            cancel_all();
            channel_->cancel();
            break;
        case 2:
            forget_all();
            channel_->reset();
            break;
        case 3:
            forget_all();
            capacity_ = below(4);
            channel_.emplace(world_.context(), capacity_);
            break;
        case 4:
        case 5:
        case 6: cancel_one(); break;
        case 7:
        case 8: try_send(); break;
        case 9:
        case 10: try_receive(); break;
        default: below(2) == 0 ? send() : receive();
        }
        if (channel_->is_open() == is_closed_)
            faults += "it is closed or it is not; ";
    }
    bool receivers_wait() const { return !waiting_.empty() && !waiting_.front()->is_send; }
    bool senders_wait() const { return !waiting_.empty() && waiting_.front()->is_send; }
    wait_of_channel& take_first() {
        auto& w = *waiting_.front();
        waiting_.pop_front();
        return w;
    }
    /// The effect of sending message `id`; false: it waits, or fails.
    bool takes(int id) {
        if (is_closed_)
            return false;
        if (receivers_wait()) {
            auto& r = take_first();
            r.id = id;
            r.expected = outcome_of_wait::done;
            return true;
        }
        if (senders_wait() || buffer_.size() == capacity_)
            return false;
        buffer_.push_back(id);
        return true;
    }
    /// The message that a receive gets now.
    std::optional<int> gives() {
        if (buffer_.empty() && !senders_wait())
            return std::nullopt;
        std::optional<int> first;
        if (senders_wait()) {
            auto& s = take_first();
            s.expected = outcome_of_wait::done;
            buffer_.push_back(s.id);
        }
        first = buffer_.front();
        buffer_.pop_front();
        return first;
    }
    void end_waiting(bool senders_too, outcome_of_wait o) {
        if (senders_wait() && !senders_too)
            return;
        for (; !waiting_.empty(); waiting_.pop_front())
            waiting_.front()->expected = o;
    }
    void cancel_all() { end_waiting(true, outcome_of_wait::cancelled); }
    void forget_all() {
        cancel_all();
        buffer_.clear();
        is_closed_ = false;
    }

    void try_send() {
        auto m = message();
        int const id = m.id;
        bool const expected = takes(id);
        if (channel_->try_send(error_code(), std::move(m)) != expected)
            faults += "try_send; ";
        if (!expected && !m.count)
            faults += "try_send took a message that it did not send; ";
    }
    bool try_receive() {
        auto const expected = gives();
        std::optional<int> got;
        channel_->try_receive([&got](error_code, counted_message m) { got = m.id; });
        if (got != expected)
            faults += "try_receive; ";
        return got.has_value();
    }
    void send() {
        auto& w = *waits_.emplace_back(std::make_unique<wait_of_channel>());
        w.is_send = true;
        auto m = message();
        w.id = m.id;
        if (is_closed_)
            w.expected = outcome_of_wait::closed;
        else if (takes(w.id))
            w.expected = outcome_of_wait::done;
        else
            waiting_.push_back(&w);
        channel_->async_send(error_code(), std::move(m),
                             bind_cancellation_slot(w.signal.slot(), [this, &w](error_code ec) { completed(w, ec); }));
    }
    void receive() {
        auto& w = *waits_.emplace_back(std::make_unique<wait_of_channel>());
        w.is_send = false;
        w.id = 0;
        if (auto const got = gives()) {
            w.id = *got;
            w.expected = outcome_of_wait::done;
        } else if (is_closed_) {
            w.expected = outcome_of_wait::closed;
        } else {
            waiting_.push_back(&w);
        }
        channel_->async_receive(bind_cancellation_slot(w.signal.slot(), [this, &w](error_code ec, counted_message m) {
            if (!ec && m.id != w.id)
                faults += "a receive got the message of another one; ";
            completed(w, ec);
        }));
    }
    void cancel_one() {
        if (waits_.empty())
            return;
        auto& w = *waits_[below(static_cast<std::uint32_t>(waits_.size()))];
        for (auto i = waiting_.begin(); i != waiting_.end(); ++i)
            if (*i == &w) {
                w.expected = outcome_of_wait::cancelled;
                waiting_.erase(i);
                break;
            }
        w.signal.emit(cancellation_type::total);
    }
    void completed(wait_of_channel& w, error_code ec) {
        ++w.calls;
        if (outcome_of(ec) != w.expected)
            faults += (w.is_send ? "a send ended with " : "a receive ended with ") + ec.message() + "; ";
        if (below(4) == 0)
            act();
    }

    world& world_;
    std::shared_ptr<int> count_ = std::make_shared<int>();
    std::size_t capacity_;
    std::deque<int> buffer_;
    bool is_closed_ = false;
    bool is_settling_ = false;
    int last_id_ = 0;
    std::vector<std::unique_ptr<wait_of_channel>> waits_;
    std::deque<wait_of_channel*> waiting_;
    std::optional<counted_channel> channel_;
};

TEST(CoreChannels, EveryWaitEndsAsTheModelSays) {
    std::size_t waits = 0;
    sim::for_each_seed(test::scaled(300, 30), [&waits](world& w) {
        modelled_channel c(w);
        w.run();
        c.settle();
        EXPECT_EQ(c.faults, "");
        waits += c.waits();
    });
    bool const is_whole = !std::getenv("SIM_SEED") && !std::getenv("SIM_COUNT") && !std::getenv("SIM_JOBS");
    EXPECT_TRUE(waits > 100 || !is_whole);
}

} // namespace
