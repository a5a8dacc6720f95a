// The simulated network and the time that drives it: hosts, links, endpoints, connections, and a queue of events.
//
// It belongs to the world and is shared by the drivers of its hosts. An operation lies in the queue of its endpoint and
// direction until an event lets the queue be served. Completed operations are pushed onto the loop of the host that
// owns the endpoint. Nothing here throws. Memory is needed only to make a descriptor, a datagram or a look-up, which
// fails without it.
#pragma once

#include "endpoint.hpp"
#include "faults.hpp"
#include "host_state.hpp"
#include "trace.hpp"

#include <fairlead/base/saturated.hpp>
#include <fairlead/io/driver.hpp>
#include <fairlead/sim/link.hpp>
#include <fairlead/sim/world.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::sim {

enum class verdict : std::uint8_t { none, stuck, too_many_steps };

class network {
public:
    static constexpr std::int64_t beginning_ns = 1'000'000'000;
    static constexpr std::int64_t never_ns =
        4'000'000'000'000'000'000;                                 ///< deadlines beyond it, in 126 years, do not come
    static constexpr std::int64_t retransmission_ns = 200'000'000; ///< RFC 6298 says a second, Linux 200 ms

    network(std::uint64_t seed, std::string_view settings);

    /// A time that is never, or later, is never.
    static std::int64_t later(std::int64_t at_ns, std::chrono::nanoseconds by) noexcept {
        return std::min(fairlead::detail::sum(std::chrono::nanoseconds(at_ns), by).count(), never_ns);
    }

    // ---- time and chance
    std::int64_t now_ns() const noexcept { return now_; }
    std::uint64_t entropy() noexcept;
    std::uint32_t pick(std::uint32_t n) noexcept { return n < 2 ? 0 : scheduling_.below(n); }
    void arrange(host_state& m, op_queue& q) noexcept;
    /// For a context that is run by itself, not by the world.
    void poll(host_state& m, std::int64_t until_ns) noexcept;
    void pass(std::int64_t ns) noexcept { now_ += ns; }
    void jump(std::int64_t to_ns) noexcept;
    /// When the next event is due; never_ns: none.
    std::int64_t next_event_ns() const noexcept { return events_.empty() ? never_ns : events_.front().at; }
    /// Due events happen. False: none was due.
    bool deliver();
    /// False: the limit is exceeded.
    bool step() noexcept { return ++steps <= steps_most; }
    void at(std::int64_t when_ns, std::function<void()> action);
    bool has_actions() const noexcept { return !actions_.empty(); }
    /// Costs of a turn.
    std::int64_t turn_time() noexcept { return 500 + scheduling_.below(2'000); }

    // ---- hosts and links
    void join(host_state& m);
    void set_link(host_state& from, host_state& to, link_options const& o) noexcept;
    void cut(host_state& from, host_state& to, bool is_cut) noexcept;
    void heal() noexcept;
    /// All descriptors of a host go. Silently: the power fails, nobody is told.
    void shut(host_state& m, bool silently) noexcept;
    std::size_t waiting_for_clients(host_state const& m) const noexcept;
    std::string describe_links() const;

    // ---- descriptors; each returns 0 or an errno value
    int open(host_state& m, int family, int type, io::handle& made) noexcept;
    int pair(host_state& m, int family, int type, io::handle& a, io::handle& b) noexcept;
    void close(endpoint& e) noexcept;
    int bind(endpoint& e, void const* address, std::size_t size) noexcept;
    int listen(endpoint& e, int backlog) noexcept;
    int shutdown(endpoint& e, int how) noexcept;
    int set_option(endpoint& e, int level, int key, void const* data, std::size_t size) noexcept;
    std::size_t get_option(endpoint& e, int level, int key, void* data, std::size_t size) noexcept;
    std::size_t available(endpoint& e) noexcept;
    /// Of a stream: what was sent and has not reached the other side's system (UNIX: its program).
    std::size_t unacknowledged(endpoint& e) noexcept;
    endpoint* find(io::handle h) noexcept;

    // ---- operations
    bool ready(endpoint& e, io::kind k, std::size_t size) noexcept;
    void submit(host_state& m, io::io_op& o) noexcept;
    bool try_now(endpoint& e, io::io_op& o) noexcept;
    void perform(io::io_op& o, bool may_wait) noexcept;
    bool cancel(endpoint& e, io::io_op& o) noexcept;
    bool cancel(endpoint& e, void* ticket) noexcept;
    std::size_t cancel_all(endpoint& e) noexcept;
    void take_pending(host_state& m, op_queue& into) noexcept;

    // ---- names
    void add_name(std::string_view name, ip::address const& a, std::chrono::nanoseconds ttl);
    void remove_name(std::string_view name);
    void resolve(host_state& m, io::resolve_op& o) noexcept;
    void cancel_resolve(io::resolve_op& o) noexcept;
    void look_up(host_state& m, io::resolve_op& o) noexcept;
    void look_up_name(io::resolve_op& o) noexcept;

    // ---- for the world
    std::string waiting() const;
    sim::trace trace;
    sim::counters counts{};
    sim::faults faults;
    std::uint64_t steps = 0;
    std::uint64_t steps_most = 20'000'000;
    sim::verdict verdict = verdict::none;

private:
    struct event {
        std::int64_t at;
        std::uint64_t order; ///< random, then the number of the event: ties are decided by the seed
        std::uint32_t index;
        std::uint32_t generation;
        event_kind kind;
        bool later_than(event const& o) const noexcept { return at != o.at ? at > o.at : order > o.order; }
    };
    struct link {
        link_options options;
        bool is_cut = false;
        std::int64_t free_ns = 0; ///< when what is being sent has left
    };
    struct zone_entry {
        std::string name;
        ip::address address;
        std::chrono::nanoseconds ttl;
    };
    struct pending_look_up {
        std::uint32_t number;
        io::resolve_op* o;
        host_state* asker;
    };
    struct flying_datagram {
        io::handle to;
        io::handle from; ///< who is told when nobody is there
        host_state* sender = nullptr;
        host_state* receiver = nullptr;
        sim::name address;
        datagram content;
        std::uint32_t next_free = 0;
    };

    void stop(host_state& m, sim::verdict v) noexcept;
    void note(host_state const* m, what w, std::uint64_t a, std::uint64_t b = 0) noexcept {
        trace.note(now_, m ? m->id : 0, w, a, b);
    }
    void note(endpoint const& e, what w, std::uint64_t b = 0) noexcept { note(e.owner, w, e.index, b); }

    // ---- ways
    link& way(host_state const& from, host_state const& to) noexcept { return links_[from.id * hosts_.size() + to.id]; }
    bool passes(host_state const& from, host_state const& to) noexcept {
        return from.is_up && to.is_up && !way(from, to).is_cut;
    }
    /// How long so many bytes take.
    std::int64_t travel(host_state const& from, host_state const& to, std::size_t bytes) noexcept;
    std::int64_t local_delay() noexcept;
    std::int64_t to_peer(endpoint& e, std::size_t bytes = 0) noexcept { return travel(*e.owner, *e.far, bytes); }
    std::int64_t from_peer(endpoint& e) noexcept { return travel(*e.far, *e.owner, 0); }

    // ---- events
    bool make_room() noexcept;
    void push(std::int64_t at, event_kind k, io::handle h) noexcept;
    void schedule(endpoint& e, event_kind k, std::int64_t at) noexcept;
    void serve_soon(endpoint& e, bool write) noexcept;
    void happen(event const& e);
    void answer(std::uint32_t number) noexcept;

    // ---- descriptors
    endpoint* make(host_state& m, int family, int type) noexcept;
    void release(endpoint& e) noexcept;
    void vanish(endpoint& e) noexcept;
    void drop_backlog(endpoint& e) noexcept;
    void part(endpoint& e) noexcept;
    int assign_port(endpoint& e) noexcept;
    bool is_taken(endpoint const& e, name const& n) const noexcept;

    // ---- connecting
    endpoint* bound_at(host_state const& m, name const& n, int type, bool listening) noexcept;
    host_state* route(host_state& from, name& n, int& error) noexcept;
    int go_local(endpoint& e, name const& to, host_state const* far) noexcept;
    int start_connect(endpoint& e, io::io_op const& o) noexcept;
    int establish(endpoint& e) noexcept; ///< EAGAIN: the backlog is full, or no answer
    void try_connect(endpoint& e) noexcept;
    void join(endpoint& a, endpoint& b) noexcept;

    // ---- streams
    bool possible(endpoint& e, io::kind k) noexcept;
    bool attempt(endpoint& e, io::io_op& o, bool whole) noexcept;
    bool receive(endpoint& e, io::io_op& o, bool whole) noexcept;
    bool send(endpoint& e, io::io_op& o, bool whole) noexcept;
    bool accept(endpoint& e, io::io_op& o) noexcept;
    bool break_down(endpoint& e, io::io_op& o) noexcept;
    std::uint32_t cut(std::uint32_t n, rule r) noexcept;
    std::uint32_t room(endpoint& e) noexcept;
    endpoint* living_peer(endpoint& e) noexcept;
    void arrive(endpoint& e) noexcept;
    void acknowledge(endpoint& e) noexcept;
    void keep_alive(endpoint& e) noexcept;
    void probe(endpoint& e) noexcept;
    void learn_that_nobody_is_there(endpoint& e) noexcept;
    bool gives_up(endpoint& sender) noexcept;
    void finish(endpoint& to) noexcept;
    void reset_later(endpoint& e) noexcept;
    void reset(endpoint& e, int error) noexcept;
    void break_connection(endpoint& e) noexcept;

    // ---- datagrams
    bool datagram_possible(endpoint& e, io::kind k) noexcept;
    bool attempt_datagram(endpoint& e, io::io_op& o) noexcept;
    bool receive_datagram(endpoint& e, io::io_op& o) noexcept;
    bool send_datagram(endpoint& e, io::io_op& o) noexcept;
    bool hand_over(endpoint& e, io::io_op& o, name const& to, std::size_t size) noexcept;
    int launch(endpoint& e, name const& to, host_state& far, io::io_op const& o, std::size_t size) noexcept;
    void land(std::uint32_t index) noexcept;
    void unreachable(flying_datagram& d) noexcept;
    endpoint* receiver_at(host_state const& m, name const& n, name const& from) noexcept;

    // ---- queues
    void serve(endpoint& e, op_queue& q) noexcept;
    void complete(endpoint& e, io::io_op& o) noexcept;
    void abort(endpoint& e, io::io_op& o) noexcept;
    void abort_late(endpoint& e) noexcept;
    std::size_t abort_all(endpoint& e) noexcept;

    bool at_limit_ = false; ///< the last poll ended because its time had come
    std::uint16_t next_port_ = 32768;
    std::uint32_t event_count_ = 0;
    std::uint32_t look_up_count_ = 0;
    std::uint32_t local_delay_ns_ = 0;
    link_options usual_link_;
    random_stream scheduling_;
    random_stream delays_;
    random_stream entropy_;
    std::int64_t now_ = beginning_ns;
    std::vector<event> events_; // a heap
    std::vector<std::unique_ptr<endpoint>> endpoints_;
    std::vector<std::uint32_t> free_;
    std::size_t open_count_ = 0;
    std::vector<host_state*> hosts_; // by id
    std::vector<link> links_;        // from x to
    std::vector<zone_entry> zone_;
    std::vector<pending_look_up> look_ups_;
    std::vector<std::function<void()>> actions_;
    std::vector<flying_datagram> flying_;
    std::uint32_t free_flying_ = none_free;
    std::uint32_t flying_count_ = 0;
    static constexpr std::uint32_t none_free = 0xffffffffU;
};

} // namespace fairlead::sim
