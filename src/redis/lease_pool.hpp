// The connections of a client beside the shared one, and those who wait for one.
#pragma once

#include <redis/leased_connection.hpp>
#include <redis/request_line.hpp>
#include <redis/request_taker.hpp>
#include <redis/shown.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace fairlead::redis::impl {

class client_core;
class topic_connection;

/// Connections are made when they are needed, at most so many; one that nobody uses for a time is closed. They go to
/// whoever has waited longest. The owner of the loop calls it, but for what any thread may ask.
class lease_pool final : public request_taker {
public:
    explicit lease_pool(client_core& c);
    ~lease_pool();

    // ---- requests
    bool take(exec_op& o) noexcept override;
    bool cancel(exec_op& o) noexcept override;
    std::size_t cancel(request const* r) noexcept override;
    exec_op* find(op const* where, void* ticket) noexcept override;
    exec_op* find_marked() noexcept override;
    /// All that wait end with `ec`, and all connections.
    void end_all(error_code const& ec) noexcept;
    /// The client object goes.
    void close() noexcept;

    // ---- its connections
    client_core& client() noexcept { return client_; }
    bool has_waiting() const noexcept { return !line_.empty(); }
    /// With RESP2: has messages brought, as long as somebody wants some. True: that is not in force yet.
    bool bring_messages() noexcept;
    /// The shared connection does from now on. None comes twice.
    void bring_no_messages() noexcept;
    /// Gives free connections to those who wait, and has others made.
    void look_for_work() noexcept;
    /// The client has new credentials.
    void renew() noexcept {
        for_each([](leased_connection& l) { l.renew(); });
    }
    bool prepare(error_code& ec) noexcept;
    config_view settings() const noexcept;
    std::chrono::milliseconds next_pause(backoff& b) noexcept;
    std::chrono::milliseconds idle_max() const noexcept;

    /// Says why the last connection could not be made.
    void note_failure(connection_core& of, std::string why) noexcept {
        line_.wait_for(&of);
        failure_.set(std::move(why));
    }
    /// It was made.
    void note_success() noexcept {
        line_.wait_for(nullptr);
        failure_.set({});
    }

    // ---- any thread
    std::string failure() const { return failure_.get(); }
    std::size_t pending() noexcept;
    std::uint64_t repeated() const noexcept;
    /// The one that brings messages beside the shared one. Null: there was no need for one yet.
    topic_connection* topics() const noexcept { return topics_.load(std::memory_order_acquire); }
    void add_counters(connection_counters& to) const noexcept;

private:
    template <class F> void for_each(F f) const {
        for (std::size_t i = 0, n = made_.load(std::memory_order_acquire); i != n; ++i)
            f(*all_[i]);
    }
    topic_connection* topics_made() noexcept;
    void take_for_topics(exec_op& o) noexcept;
    leased_connection* find_in(leased_connection::state s) noexcept;
    leased_connection* make_one();
    void give(leased_connection& l, exec_op& o) noexcept;

    client_core& client_;
    std::size_t most_;
    std::unique_ptr<std::unique_ptr<leased_connection>[]> all_;
    std::atomic<std::size_t> made_{0};
    std::atomic<topic_connection*> topics_{nullptr}; // its own
    request_line line_;                              // for a connection
    shown_text failure_;
};

/// Space for a lease: what an exec_op has as its object whose deliver function is this.
error_code deliver_lease(void* object, std::size_t index, reply_view const& reply);
/// The request of such an op, which is never sent.
request const& request_for_lease();

} // namespace fairlead::redis::impl
