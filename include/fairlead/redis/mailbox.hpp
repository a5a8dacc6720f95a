// The messages of a subscription that its reader has not taken yet.
//
// They are a list of blocks. A message is copied once, when it comes; from then on its block changes hands. In a steady
// state the recycler has blocks, and nothing is allocated.
#pragma once

#include <fairlead/redis/message.hpp>
#include <fairlead/sync/waited_object.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

namespace fairlead::redis::impl {

struct mailbox_op : fairlead::impl::sync::wait_op {
    message_block* block; ///< once the op has completed without an error
};

/// All but the constructor and the destructor happens under the lock of the domain, or takes it.
class FAIRLEAD_EXPORT mailbox : public fairlead::impl::sync::waited_object {
public:
    template <class Executor> mailbox(Executor const& e, std::size_t messages_max, std::size_t bytes_max)
        : waited_object(e),
          executor_(e),
          messages_max_(messages_max == 0 ? 1 : messages_max),
          bytes_max_(bytes_max) {}
    ~mailbox() {
        cancel();
        while (first_)
            owned_block(take_first()).reset();
    }

    /// Of handlers that name none.
    any_io_executor const& executor() const noexcept { return executor_; }

    // ---- the reader
    bool try_wait(mailbox_op& o) noexcept {
        return domain().look([this, &o]() noexcept {
            patience_ = portion_ = 0; // It has come back.
            return finishes(o);
        });
    }
    void wait(mailbox_op& o) noexcept {
        bool const is_done = domain().look([this, &o]() noexcept {
            if (!finishes(o)) {
                domain().append(*this, o);
                return false;
            }
            patience_ = patience_max;
            return true;
        });
        if (is_done)
            engine().post(o);
    }
    static message message_of(message_block* b) noexcept { return message(b); }
    /// The first message, where that takes no lock; null: go the long way.
    FAIRLEAD_ALWAYS_INLINE message_block* take_if_there() noexcept {
        message_block* taken = nullptr;
        domain().do_without_lock([this, &taken]() noexcept {
            if (!first_)
                return;
            taken = take_first();
            patience_ = portion_ = 0;
        });
        return taken;
    }
    /// For a reader that is about to suspend. prepare() prepares `o`, if it has to wait. True: it goes on.
    template <class Prepare> bool try_or_wait(mailbox_op& o, Prepare prepare) noexcept {
        return domain().look([this, &o, prepare]() noexcept {
            patience_ = portion_ = 0;
            if (finishes(o))
                return true;
            prepare(o);
            domain().append(*this, o);
            return false;
        });
    }

    // ---- under the lock

    /// The result of taking a message in.
    struct outcome {
        std::uint32_t dropped;    ///< messages, as there was no room
        bool is_too_much = false; ///< it holds more than it may, as its reader is about to run
    };
    /// Takes a message in, and lets the reader go, who waits for it. A reader who has just been let go is not slow yet.
    /// It may hold more than its limit then, for a few portions of a read. Portion 0 waits for nobody.
    FAIRLEAD_ALWAYS_INLINE outcome put(owned_block b, std::uint32_t portion, op_queue& ready) noexcept {
        b->lost = std::exchange(missed_, 0U);
        if (!empty()) {
            auto& o = static_cast<mailbox_op&>(domain().release_first(*this));
            o.block = b.release();
            patience_ = patience_max;
            ready.push_back(o);
            return {0};
        }
        append(b.release());
        if (count_ <= messages_max_ && bytes_ <= bytes_max_) [[likely]]
            return {0};
        return make_room(portion);
    }
    /// A put() comes soon.
    FAIRLEAD_ALWAYS_INLINE void expect_message() const noexcept {
        __builtin_prefetch(this);
        __builtin_prefetch(&missed_);
    }
    /// One that there was no memory for.
    void miss() noexcept { ++missed_; }
    /// No more messages come.
    void close(op_queue& ready) noexcept {
        is_closed_ = true;
        domain().end_all(*this, fairlead::impl::operation::result_of(fairlead::error::channel_closed), ready);
    }

private:
    // A turn of the loop for the reader's op. More for those in between: strands, groups, another thread.
    static constexpr std::uint32_t patience_max = 4;

    bool finishes(mailbox_op& o) noexcept {
        o.result = {0, 0, 0};
        if (first_) [[likely]] {
            o.block = take_first();
            return true;
        }
        o.result.error =
            fairlead::impl::operation::result_of(fairlead::error::channel_closed); // not 0: it has no message
        return is_closed_;
    }
    void append(message_block* b) noexcept {
        b->next = nullptr;
        *last_ = b;
        last_ = &b->next;
        ++count_;
        bytes_ += b->bytes();
    }
    message_block* take_first() noexcept {
        auto* const b = first_;
        first_ = b->next;
        if (!first_)
            last_ = &first_;
        --count_;
        bytes_ -= b->bytes();
        return b;
    }
    FAIRLEAD_EXPORT outcome make_room(std::uint32_t portion) noexcept;
    void let_go(op_queue&) noexcept override {} // One that gives up makes no room for others.

    message_block* first_ = nullptr;
    message_block** last_ = &first_;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t missed_ = 0; // behind the last one
    // How many more portions it waits for a reader that was let go and has not come back. It is so from the beginning.
    std::uint32_t patience_ = patience_max;
    std::uint32_t portion_ = 0; // the last one that it waited for
    any_io_executor executor_;
    std::size_t const messages_max_;
    std::size_t const bytes_max_;
    bool is_closed_ = false;
};

/// Receives the next message of a mailbox.
struct receive_message : fairlead::impl::operation::primitive<receive_message> {
    using signature = void(error_code, std::optional<message>);
    using record = mailbox_op;
    static constexpr bool drops = true;
    static constexpr bool is_tried_anywhere = true;

    mailbox* of;

    explicit receive_message(mailbox& m) noexcept : of(&m) {}
    loop* home() const noexcept { return &of->engine(); }
    static std::string describe() { return "receive a message of Redis"; }
    void prepare(mailbox_op& o) const noexcept {
        o.cancel = nullptr;
        o.domain = &of->domain();
        o.list = nullptr;
    }
    static bool ready() noexcept { return true; }
    bool attempt(mailbox_op& o) const noexcept { return of->try_wait(o); }
    void submit(mailbox_op& o) const noexcept { of->wait(o); }

    bool runs_handlers() const noexcept { return of->runs_handlers(); }
    any_io_executor executor() const noexcept { return of->executor(); }
    void leave() noexcept { of = nullptr; }
    bool is_left() const noexcept { return of == nullptr; }

    // As a direct_op, for next(). A reader that comes back has been heard of then, too: it is waited for no more.
    struct place {
        message_block* block;
    };
    FAIRLEAD_ALWAYS_INLINE bool attempt_in_place(place& p) const noexcept {
        p.block = of->take_if_there();
        return p.block != nullptr;
    }
    bool attempt_or_wait(mailbox_op& o) const noexcept {
        return of->try_or_wait(o, [this](mailbox_op& waiting) noexcept { prepare(waiting); });
    }
    static void move_result(mailbox_op& o, place& p) noexcept { p.block = o.block; }
    static std::optional<message> result_in_place(place& p) noexcept { return mailbox::message_of(p.block); }

    static void drop(mailbox_op& o) noexcept {
        if (o.result.error == 0)
            owned_block(o.block).reset();
    }
    static std::tuple<error_code, std::optional<message>> take(mailbox_op& o) {
        using fairlead::impl::operation::result_of;
        if (o.result.error == 0)
            return {error_code(), mailbox::message_of(o.block)};
        if (o.result.error == result_of(fairlead::error::channel_closed))
            return {};
        return {fairlead::impl::operation::to_error_code(o.result.error), std::nullopt};
    }
};

} // namespace fairlead::redis::impl
