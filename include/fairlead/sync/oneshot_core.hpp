// The message of a oneshot, with those that wait for it, and the handles on it.
//
// The handles count themselves under the lock of the waits, which takes no atomic operation where one thread is alone.
// The last one deletes the core.
#pragma once

#include <fairlead/sync/channel_core.hpp>

#include <cstddef>
#include <utility>

namespace fairlead::impl::sync {

template <class T, class Executor> class oneshot_core final : public waited_object {
public:
    using kept = kept_message<T>;
    using receiving = receive_op<kept>;

    /// For one handle on either side.
    explicit oneshot_core(Executor const& e) : waited_object(e), executor_(e) {}
    ~oneshot_core() {
        if (has_message_)
            message_.drop();
    }
    static void* operator new(std::size_t bytes) { return exec::recycle_allocate(bytes); }
    static void operator delete(void* p) noexcept { exec::recycle_free_sized(p, sizeof(oneshot_core)); }

    Executor const& executor() const noexcept { return executor_; }
    bool is_closed() const noexcept {
        return domain().look([this]() noexcept { return is_closed_; });
    }
    /// A receive would not wait.
    bool is_ready() const noexcept {
        return domain().look([this]() noexcept { return has_message_ || is_closed_; });
    }
    /// Sends what make() returns. False: it is closed, and make() is not called.
    /// Throws     what make() throws; std::bad_alloc; nothing was sent
    template <class Make> bool send(Make make) {
        bool is_sent = false;
        bool others_wait = false;
        std::exception_ptr why;
        wait_op* released = nullptr;
        domain().under_lock([this, make, &is_sent, &others_wait, &why, &released]() noexcept {
            if (is_closed_)
                return;
            try {
                if (empty()) [[likely]] {
                    message_.make(make);
                    has_message_ = true;
                } else {
                    static_cast<receiving&>(front()).message.make(make);
                    released = &domain().release_first(*this);
                    others_wait = !empty();
                }
                is_closed_ = is_sent = true;
            } catch (...) {
                why = std::current_exception();
            }
        });
        if (released)
            engine().post(*released);
        if (others_wait) [[unlikely]]
            end_waits();
        if (why) [[unlikely]]
            std::rethrow_exception(std::move(why));
        return is_sent;
    }
    /// Receives into `place`, if that needs no waiting.
    bool try_receive(message_place<kept>& place) noexcept {
        return domain().look([this, &place]() noexcept { return take(place); });
    }

    // ---- for receive_from
    bool try_wait(receiving& o) noexcept {
        return domain().look([this, &o]() noexcept { return finishes(o); });
    }
    void wait(receiving& o) noexcept {
        if (try_or_wait(o, [](receiving&) noexcept {}))
            engine().post(o);
    }
    template <class Place> bool take_where_usual(Place& into) noexcept {
        return domain().is_done_without_lock([this, &into]() noexcept { return take(into); });
    }
    /// prepare() prepares `o`, if it has to wait.
    template <class Prepare> bool try_or_wait(receiving& o, Prepare prepare) noexcept {
        return domain().look([this, &o, prepare]() noexcept {
            if (finishes(o))
                return true;
            prepare(o);
            domain().append(*this, o);
            return false;
        });
    }

    // ---- the handles. Another thread may delete the core as soon as a handle has left under the lock.
    void sender_leaves() noexcept {
        auto next = try_leave_as_sender();
        if (next == after::others_wait) [[unlikely]] { // They hear of it while the handle still counts.
            end_waits();
            next = try_leave_as_sender();
        }
        if (next == after::is_last)
            delete this;
    }
    void receiver_enters() noexcept {
        domain().under_lock([this]() noexcept { ++receivers_; });
    }
    void receiver_leaves() noexcept {
        message_place<kept> left;
        bool is_left = false;
        auto next = try_leave_as_receiver(left, is_left);
        if (next == after::others_wait) [[unlikely]] {
            end_waits();
            next = try_leave_as_receiver(left, is_left);
        }
        if (is_left)
            left.drop();
        if (next == after::is_last)
            delete this;
    }

private:
    enum class after : unsigned char { stays, is_last, others_wait };

    after try_leave_as_sender() noexcept {
        return domain().look([this]() noexcept {
            is_closed_ = true;
            if (!empty())
                return after::others_wait;
            has_sender_ = false;
            return receivers_ == 0 ? after::is_last : after::stays;
        });
    }
    /// A message that nobody will receive goes without the lock.
    after try_leave_as_receiver(message_place<kept>& left, bool& is_left) noexcept {
        return domain().look([this, &left, &is_left]() noexcept {
            if (receivers_ != 1) {
                --receivers_;
                return after::stays;
            }
            is_closed_ = true;
            if (!empty())
                return after::others_wait;
            receivers_ = 0;
            if (!has_sender_)
                return after::is_last;
            is_left = take(left);
            return after::stays;
        });
    }
    void end_waits() noexcept {
        domain().change([this](op_queue& ready) noexcept {
            domain().end_all(*this, operation::result_of(error::channel_closed), ready);
        });
    }
    template <class Place> bool take(Place& into) noexcept {
        if (!has_message_)
            return false;
        into.put(std::move(message_.get()));
        message_.drop();
        has_message_ = false;
        return true;
    }
    bool finishes(receiving& o) noexcept {
        if (take(o.message)) [[likely]] {
            o.result = {0, 0, 0};
            return true;
        }
        o.result.error = operation::result_of(error::channel_closed); // not 0: it has no message
        return is_closed_;
    }
    void let_go(op_queue&) noexcept override {} // One that gives up makes no room for others.

    Executor executor_;
    std::size_t receivers_ = 1;
    bool has_sender_ = true;
    bool is_closed_ = false; ///< nothing is sent any more
    bool has_message_ = false;
    message_place<kept> message_;
};

} // namespace fairlead::impl::sync
