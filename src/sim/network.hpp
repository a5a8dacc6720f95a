// The simulated network and the clock that drives it: endpoints, connections, bytes, and a queue of events in time.
//
// It belongs to the world and is shared by the drivers of its hosts (one so far). An operation lies in the queue of its
// endpoint and direction until an event lets the queue be served; what completes is pushed onto the loop of the host
// that owns the endpoint. Nothing here is called back, nothing throws; memory is needed only where a descriptor or a
// look-up is made, which then fails.
#pragma once

#include "pipe.hpp"
#include "trace.hpp"

#include <fairlead/exec/loop.hpp>
#include <fairlead/io/driver.hpp>
#include <fairlead/net/address.hpp>
#include <fairlead/sim/random.hpp>
#include <fairlead/sim/world.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::sim {

/// Who completes ops: one driver and its loop.
struct host {
    loop* l = nullptr;
    std::size_t pending = 0;
};

/// A socket address as the system lays it out.
struct name {
    alignas(4) unsigned char bytes[110] = {};
    std::uint32_t size = 0;

    /// 0 or an errno value.
    int read(int family_wanted, void const* address, std::size_t address_size) noexcept;
    int family() const noexcept;
    std::uint16_t port() const noexcept { return static_cast<std::uint16_t>(bytes[2] << 8 | bytes[3]); }
    void port(std::uint16_t p) noexcept {
        bytes[2] = static_cast<unsigned char>(p >> 8);
        bytes[3] = static_cast<unsigned char>(p);
    }
    bool is_any() const noexcept;
    bool is_loopback() const noexcept;
    void become_loopback() noexcept;
    /// One socket bound to this name and one bound to the other would get in each other's way.
    bool overlaps(name const& other) const noexcept;
};

struct option {
    int level;
    int key;
    std::uint32_t size;
    unsigned char bytes[32];
};

enum class stage : std::uint8_t { fresh, listening, connecting, connected };

/// What can be scheduled for an endpoint; each at most once at a time.
enum class slot : std::uint8_t { arrive, serve_read, serve_write, connect, reset, look_up };
inline constexpr std::size_t slots_of_endpoint = 5;

struct endpoint {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    host* owner = nullptr; ///< null: the place is free
    int family = 0;
    sim::stage stage = stage::fresh;
    std::uint8_t scheduled = 0; ///< bit for each slot
    bool bound = false;
    bool end_sent = false;    ///< the peer's end of stream is behind the bytes on the way
    bool end_arrived = false; ///< … and is here
    bool finished = false;    ///< this side has shut down sending
    bool deaf = false;        ///< this side has shut down receiving
    bool broken = false;      ///< reset
    int error = 0;            ///< reported once, by whoever comes first
    std::uint32_t lost = 0;   ///< bytes sent to a peer that is gone
    unsigned tries = 0;       ///< connection attempts that met a full backlog
    std::size_t backlog_most = 0;
    name local, remote;
    io::handle peer;
    pipe in;
    std::vector<io::handle> backlog;
    std::vector<option> options;
    op_queue reads, writes;

    io::handle handle() const noexcept { return {index, generation}; }
    bool is_unix() const noexcept;
    op_queue& queue(io::kind k) noexcept { return is_write(k) ? writes : reads; }
};

/// How often what goes wrong, of 1024; drawn once for each world, so that worlds differ in kind.
struct habits {
    std::uint32_t reorder;
    std::uint32_t not_ready;
    std::uint32_t short_read;
    std::uint32_t short_write;
    std::uint32_t latency_ns;
};

enum class verdict : std::uint8_t { none, stuck, too_many_steps };

class network {
public:
    static constexpr std::int64_t never_ns =
        4'000'000'000'000'000'000; ///< deadlines beyond it, in 126 years, do not come

    explicit network(std::uint64_t seed);

    // ---- time and chance
    std::int64_t now_ns() const noexcept { return now_; }
    std::uint64_t entropy() noexcept;
    void arrange(host& h, op_queue& q) noexcept;
    void poll(host& h, std::int64_t until_ns) noexcept;

    // ---- descriptors; each returns 0 or an errno value
    int open(host& h, int family, int type, io::handle& made) noexcept;
    int pair(host& h, int family, int type, io::handle& a, io::handle& b) noexcept;
    void close(endpoint& e) noexcept;
    int bind(endpoint& e, void const* address, std::size_t size) noexcept;
    int listen(endpoint& e, int backlog) noexcept;
    int shutdown(endpoint& e, int how) noexcept;
    int set_option(endpoint& e, int level, int key, void const* data, std::size_t size) noexcept;
    std::size_t get_option(endpoint& e, int level, int key, void* data, std::size_t size) noexcept;
    endpoint* find(io::handle h) noexcept;

    // ---- operations
    bool ready(endpoint& e, io::kind k, std::size_t size) noexcept;
    void submit(host& h, io::io_op& o) noexcept;
    bool try_now(endpoint& e, io::io_op& o) noexcept;
    void perform(io::io_op& o, bool may_wait) noexcept;
    bool cancel(endpoint& e, io::io_op& o) noexcept;
    std::size_t cancel_all(endpoint& e) noexcept;
    void take_pending(host& h, op_queue& into) noexcept;

    // ---- names
    void add_name(std::string_view host_name, ip::address const& a);
    void resolve(host& h, io::resolve_op& o) noexcept;
    void cancel_resolve(io::resolve_op& o) noexcept;
    void look_up(io::resolve_op& o) noexcept;

    // ---- for the world
    std::string waiting() const;
    sim::trace trace;
    sim::counters counts{};
    std::uint64_t steps = 0;
    std::uint64_t steps_most = 20'000'000;
    sim::verdict verdict = verdict::none;

private:
    struct event {
        std::int64_t at;
        std::uint64_t order; ///< random, then the number of the event: ties are decided by the seed
        std::uint32_t index;
        std::uint32_t generation;
        sim::slot slot;
        bool later_than(event const& o) const noexcept { return at != o.at ? at > o.at : order > o.order; }
    };

    struct pending_look_up {
        std::uint32_t number;
        io::resolve_op* o;
        host* asker;
    };

    void step(host& h) noexcept;
    void stop(host& h, sim::verdict v) noexcept;
    void note(what w, std::uint64_t a, std::uint64_t b = 0) noexcept { trace.note(now_, w, a, b); }
    std::int64_t latency() noexcept;

    bool make_room() noexcept;
    void push(std::int64_t at, slot s, io::handle h) noexcept;
    void schedule(endpoint& e, slot s, std::int64_t at) noexcept;
    void serve_soon(endpoint& e, bool write) noexcept;
    bool deliver(host& h) noexcept;
    void happen(event const& e) noexcept;
    void answer(std::uint32_t number) noexcept;

    endpoint* make(host& h, int family) noexcept;
    void drop_backlog(endpoint& e) noexcept;
    void part(endpoint& e) noexcept;
    int assign_port(endpoint& e) noexcept;
    bool is_taken(endpoint const& e, name const& n) const noexcept;
    endpoint* listener_at(name const& n) noexcept;
    int start_connect(endpoint& e, io::io_op const& o) noexcept;
    int establish(endpoint& e) noexcept; ///< EAGAIN: the backlog is full
    void try_connect(endpoint& e) noexcept;
    void join(endpoint& a, endpoint& b) noexcept;

    bool possible(endpoint& e, io::kind k) noexcept;
    bool attempt(endpoint& e, io::io_op& o, bool whole) noexcept;
    bool receive(endpoint& e, io::io_op& o, bool whole) noexcept;
    bool send(endpoint& e, io::io_op& o, bool whole) noexcept;
    bool accept(endpoint& e, io::io_op& o) noexcept;
    std::uint32_t cut(std::uint32_t n, std::uint32_t of_1024, std::uint64_t& counter) noexcept;
    std::uint32_t room(endpoint& e) noexcept;
    void serve(endpoint& e, op_queue& q) noexcept;
    void complete(endpoint& e, io::io_op& o) noexcept;
    void abort(endpoint& e, io::io_op& o) noexcept;

    void arrive(endpoint& e) noexcept;
    void finish(endpoint& to) noexcept;
    void reset_later(endpoint& e) noexcept;
    void reset(endpoint& e) noexcept;

    bool at_limit_ = false; ///< the last poll ended because its time had come
    std::uint16_t next_port_ = 32768;
    std::uint32_t event_count_ = 0;
    std::uint32_t look_up_count_ = 0;
    habits habits_;
    random_stream scheduling_;
    random_stream faults_;
    random_stream entropy_;
    std::int64_t now_ = 1'000'000'000;
    std::vector<event> events_; // a heap
    std::vector<std::unique_ptr<endpoint>> endpoints_;
    std::vector<std::uint32_t> free_;
    std::size_t open_count_ = 0;
    std::vector<std::pair<std::string, ip::address>> names_;
    std::vector<pending_look_up> look_ups_;
};

} // namespace fairlead::sim
