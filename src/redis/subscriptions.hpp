// The subscriptions of a client, and the ways of messages to them.
#pragma once

#include <redis/name_table.hpp>
#include <redis/pushed_message.hpp>
#include <redis/shown.hpp>

#include <fairlead/redis/mailbox.hpp>
#include <fairlead/redis/request.hpp>
#include <fairlead/redis/subscription.hpp>
#include <fairlead/resp3/node.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::redis::impl {

class client_core;

/// One subscription.
struct subscription_entry {
    mailbox box;
    client_core* client; ///< retained, or null
    kept_topics wanted;
    bool asks = true;             ///< a request with its names waits, or is under way
    bool is_over = false;         ///< the client's run has ended, and nothing comes any more
    std::uint64_t left_to_it = 0; ///< the last session that left its names to that request

    subscription_entry(client_core* c, any_io_executor const& ex, kept_topics all, std::size_t messages_max,
                       std::size_t bytes_max)
        : box(ex, messages_max, bytes_max),
          client(c),
          wanted(std::move(all)) {}
};

/// The wanted state, and the ways of messages. Any thread. All of it has the lock of the mailboxes on the client's
/// executor. A message takes that once, and the thread that is alone with its loop takes none.
class subscriptions {
public:
    explicit subscriptions(any_io_executor const& ex) : domain_(fairlead::impl::sync::domain_for(ex)) {}

    /// Adds `e`, and to `begin` the commands for its names.
    /// Throws     bad_alloc: `e` is to be removed
    void add(subscription_entry& e, request& begin);
    /// Takes `e` back, and adds to `last_ones` the commands for names that nobody has any more.
    void remove(subscription_entry& e, request& last_ones) noexcept;
    /// Adds the commands for all names with which a session begins. Those that only wait for their own request to be
    /// sent are left to that.
    void append_all(request& to, std::uint64_t session);
    /// The request of `e` has ended. True: it was lost, but a session that is `under_way` still relies on it.
    bool has_asked(subscription_entry& e, bool is_lost, bool is_session_under_way) noexcept;
    /// Of a push: hands it to whoever wants it. Portions are those of mailbox::put(). True: one who wants it holds too
    /// much, and would take something soon.
    bool pass_on(std::span<resp3::node const> push, std::uint64_t connection, std::uint32_t portion) noexcept;
    /// As pass_on() for each of these messages.
    bool pass_on(std::span<resp3::text_push const> messages, std::uint64_t connection, std::uint32_t portion) noexcept;
    /// Those that are there have ended. The next session begins without them.
    void end_all() noexcept;
    /// `e` is among them.
    bool has_ended(subscription_entry const& e) noexcept {
        return domain_->look([&e]() noexcept { return e.is_over; });
    }
    bool has_names() noexcept;
    /// Messages that there was no room for, each time. Any thread.
    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    /// Nearly every name is wanted once: that entry needs no look into another block.
    struct receivers {
        subscription_entry* first = nullptr;                      ///< null only until the first one is added
        std::unique_ptr<std::vector<subscription_entry*>> others; ///< null: none

        template <class F> FAIRLEAD_ALWAYS_INLINE void for_each(F f) const {
            f(*first);
            if (others) [[unlikely]]
                for (auto* const e : *others)
                    f(*e);
        }
        bool has(subscription_entry const& e) const noexcept;
        void add(subscription_entry& e);
        /// True: it was the last one.
        bool remove(subscription_entry const& e) noexcept;
        bool all_ask() const noexcept;
    };
    using names = name_table<receivers>;

    struct delivery {
        std::uint64_t const connection;
        std::uint32_t const portion;
        std::uint32_t dropped = 0;
        bool is_too_much = false;
    };
    void hand_over(receivers const& to, pushed_message const& m, owned_block block, delivery& d,
                   op_queue& ready) noexcept;
    names& of(topic::kind k) noexcept { return wanted_[static_cast<std::size_t>(k)]; }
    template <class F> void under_lock(F f);

    std::shared_ptr<fairlead::impl::sync::wait_domain> domain_;
    std::array<names, 3> wanted_;
    std::uint64_t session_ = 0; // the last one that began
    shown_count dropped_;
};

} // namespace fairlead::redis::impl
