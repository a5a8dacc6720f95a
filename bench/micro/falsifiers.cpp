// Four measurements that would have changed the design had they come out otherwise (docs/decisions/002 to 005):
//   frames    bytes of a coroutine frame with 1, 4 and 8 await sites; limit 2 KiB for a typical handler
//   start     what the erased start of an awaited operation costs over a concrete awaiter; limit 1 ns
//   hop       one trip through the run queue; limit 10 ns
//   driver    a virtual call into the driver for each operation; limit 1 % of an echoed message
// Times are CPU nanoseconds, medians of interleaved rounds.
//
//   bench_falsifiers [iterations] [rounds]
#include "../frame_bytes.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

using namespace fairlead;

long iterations = 2'000'000;
int rounds = 7;

double cpu_ns() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// ---- frames

using socket_type = local::stream_protocol::socket;

FAIRLEAD_NOINLINE seen_frame sites_1(socket_type& s, mutable_buffer b) { co_await s.async_read_some(b); }
FAIRLEAD_NOINLINE seen_frame sites_4(socket_type& s, mutable_buffer b) {
    co_await s.async_read_some(b);
    co_await s.async_write_some(b);
    co_await s.async_read_some(b);
    co_await s.async_write_some(b);
}
FAIRLEAD_NOINLINE seen_frame sites_8(socket_type& s, mutable_buffer b) {
    co_await s.async_read_some(b);
    co_await s.async_write_some(b);
    co_await s.async_read_some(b);
    co_await s.async_write_some(b);
    co_await s.async_read_some(b);
    co_await s.async_write_some(b);
    co_await s.async_read_some(b);
    co_await s.async_write_some(b);
}
FAIRLEAD_NOINLINE seen_frame echo_handler(socket_type s) {
    char data[64];
    for (;;) {
        auto const n = co_await s.async_read_some(buffer(data));
        co_await async_write(s, buffer(data, n));
    }
}

// ---- start: an emulated operating system whose operations complete when triggered

struct os_op {
    os_op* next;
    void (*done)(os_op*);
};
os_op* os_first = nullptr;
os_op** os_last = &os_first;
void os_start(os_op* o) {
    o->next = nullptr;
    *os_last = o;
    os_last = &o->next;
}
void os_trigger() {
    os_op* o = os_first;
    os_first = o->next;
    if (!os_first)
        os_last = &os_first;
    o->done(o);
}

/// The lower bound: the awaiter is the operation's state.
struct concrete_awaiter : os_op {
    std::coroutine_handle<> h;
    concrete_awaiter() noexcept {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> c) noexcept {
        h = c;
        done = [](os_op* o) { static_cast<concrete_awaiter*>(o)->h.resume(); };
        os_start(this);
    }
    void await_resume() const noexcept {}
};
/// The same as an operation of the library's kind.
struct os_operation : impl::operation::primitive<os_operation> {
    using signature = void();
    struct record : op {
        os_op os;
        record() noexcept {}
    };
    loop* l;
    explicit os_operation(loop* at) : l(at) {}
    loop* home() const noexcept { return l; }
    void prepare(record& r) const noexcept { r.cancel = nullptr; }
    void submit(record& r) const noexcept {
        r.os.done = [](os_op* o) {
            auto* self = reinterpret_cast<record*>(reinterpret_cast<char*>(o) - sizeof(op));
            if (self->run)
                self->run(self, op_mode::complete);
            else
                loop::resume_chain(await_record::of(*self));
        };
        os_start(&r.os);
    }
    static std::tuple<> take(record&) noexcept { return {}; }
};
auto async_os(loop* l) { return completion_token_transform<void()>(use_await, os_operation(l)); }

seen_frame run_concrete(long n) {
    for (long i = 0; i != n; ++i) {
        concrete_awaiter a;
        co_await a;
    }
}
seen_frame run_erased(loop* l, long n) {
    for (long i = 0; i != n; ++i)
        co_await async_os(l);
}
double drive(seen_frame p, loop* home) {
    static constexpr impl::exec::record_hooks ends{.resume = [](await_record*) {},
                                                   .abandon = nullptr,
                                                   .destroy = nullptr,
                                                   .is_asked = nullptr,
                                                   .requests = nullptr,
                                                   .member = nullptr,
                                                   .is_to_be_destroyed = nullptr};
    await_record record(ends); // of a chain of one coroutine
    auto& link = p.handle.promise().link;
    link.parent = nullptr;
    link.record = &record;
    record.innermost = &link;
    record.home = home;
    double const before = cpu_ns();
    p.handle.resume();
    while (os_first)
        os_trigger();
    double const spent = cpu_ns() - before;
    p.handle.destroy();
    impl::exec::this_thread.next = nullptr; // The concrete awaiter has resumed it without the trampoline.
    return spent / static_cast<double>(iterations);
}

// ---- hop

struct hopper {
    io_context& c;
    long left;
    void operator()() {
        if (--left > 0)
            post(c, hopper{c, left});
    }
};
double hop_callback() {
    io_context c(1);
    post(c, hopper{c, iterations});
    double const before = cpu_ns();
    c.run();
    return (cpu_ns() - before) / static_cast<double>(iterations);
}
awaitable<void> yielder(long n) {
    for (long i = 0; i != n; ++i)
        co_await this_coro::yield();
}
double hop_yield() {
    io_context c(1);
    co_spawn(c, yielder(iterations), detached);
    double const before = cpu_ns();
    c.run();
    return (cpu_ns() - before) / static_cast<double>(iterations);
}

// ---- driver: an operation that fails at once, through the interface and without it

double driver_virtual() {
    io_context c(1);
    io::reactor* volatile d = &c.as_loop().reactor();
    double const before = cpu_ns();
    bool any = false;
    for (long i = 0; i != iterations; ++i) {
        io::reactor* const now = d;
        any = now->ready(io::handle(), io::kind::receive, 1) || any;
    }
    double const spent = cpu_ns() - before;
    if (any)
        std::abort();
    return spent / static_cast<double>(iterations);
}

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1)
        iterations = std::atol(argv[1]);
    if (argc > 2)
        rounds = std::atoi(argv[2]);
    io_context c(1);
    socket_type s(c);
    char bytes[1];
    auto const b = buffer(bytes);
    std::printf("frames  %zu / %zu / %zu bytes with 1 / 4 / 8 await sites; echo handler with its socket and 64-byte "
                "buffer %zu\n",
                frame_bytes([&] { return sites_1(s, b); }), frame_bytes([&] { return sites_4(s, b); }),
                frame_bytes([&] { return sites_8(s, b); }), frame_bytes([&] { return echo_handler(socket_type(c)); }));
    std::vector<double> concrete, erased, callback, yield, call;
    for (int i = 0; i != rounds; ++i) {
        concrete.push_back(drive(run_concrete(iterations), &c.as_loop()));
        erased.push_back(drive(run_erased(&c.as_loop(), iterations), &c.as_loop()));
        callback.push_back(hop_callback());
        yield.push_back(hop_yield());
        call.push_back(driver_virtual());
    }
    std::printf("start   concrete awaiter %.2f ns, erased operation %.2f ns: +%.2f ns\n", median(concrete),
                median(erased), median(erased) - median(concrete));
    std::printf("hop     post of a callback %.2f ns, yield of a coroutine %.2f ns\n", median(callback), median(yield));
    std::printf("driver  one virtual call %.2f ns (with its lookup of a closed handle)\n", median(call));
}
