// The limits of post.cpp: queues with nothing around them.
//
//   raw_post ROW N FLOWS
//     ROW  fifo         function pointers in an intrusive queue; each call queues itself again
//          coroutine    the same with coroutines
//          strand       the same through a queue of its own, which stands in the first one as one node and which other
//                       threads could push to
//          from_thread  another thread pushes onto a lock-free stack, which a spinning reader takes whole and turns
//                       round; prints the wall time of each
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct node {
    node* next = nullptr;
    void (*run)(node*) = nullptr;
};

struct fifo {
    node* head = nullptr;
    node** tail = &head;
    void push(node& n) noexcept {
        n.next = nullptr;
        *tail = &n;
        tail = &n.next;
    }
    node& pop() noexcept {
        node& n = *head;
        head = n.next;
        if (!head)
            tail = &head;
        return n;
    }
    void run() {
        while (head) {
            node& n = pop();
            n.run(&n);
        }
    }
} queue;

struct chain : node {
    long left = 0;
    static void step(node* n) {
        auto* self = static_cast<chain*>(n);
        if (--self->left > 0)
            queue.push(*self);
    }
};

/// The least that a strand can be. There are two ways in. A function in its turn uses plain stores, once it has seen
/// that nobody else waits. All others push to a lock-free stack, and the first on it queues the turn. Left out are a
/// queue below that other threads can push to as well, and shared ownership. Left out, too, are one strand inside
/// another, exceptions, and functions and executors of any type.
struct strand : node {
    static constexpr int functions_per_turn = 16; // The queue below has others waiting.
    static constinit thread_local strand const* innermost;
    static constinit node idle; // stands on the stack while no turn is queued or running
    fifo taken;
    std::atomic<node*> inbox = &idle;

    strand() noexcept {
        run = [](node* n) { static_cast<strand*>(n)->run_turn(); };
    }
    void push(node& n) noexcept {
        node* seen = inbox.load(std::memory_order_relaxed);
        if (innermost == this && !seen) {
            taken.push(n);
            return;
        }
        do
            n.next = seen == &idle ? nullptr : seen;
        while (!inbox.compare_exchange_weak(seen, &n, std::memory_order_acq_rel, std::memory_order_relaxed));
        if (seen == &idle)
            queue.push(*this);
    }

private:
    void run_turn() {
        innermost = this;
        int left = functions_per_turn;
        while (left != 0 && has_next()) {
            --left;
            node& n = taken.pop();
            n.run(&n);
        }
        innermost = nullptr;
        if (left == 0)
            queue.push(*this);
    }
    bool has_next() noexcept {
        if (taken.head)
            return true;
        node* newest = nullptr;
        if (inbox.compare_exchange_strong(newest, &idle, std::memory_order_acq_rel))
            return false; // Another turn may begin elsewhere: nothing is touched below.
        newest = inbox.exchange(nullptr, std::memory_order_acquire);
        node* in_order = nullptr; // as a queue has them
        while (newest)
            newest = std::exchange(newest->next, std::exchange(in_order, newest));
        while (in_order)
            taken.push(*std::exchange(in_order, in_order->next));
        return true;
    }
};
constinit thread_local strand const* strand::innermost = nullptr;
constinit node strand::idle;

struct strand_chain : node {
    strand* through = nullptr;
    long left = 0;
    static void step(node* n) {
        auto* self = static_cast<strand_chain*>(n);
        if (--self->left > 0)
            self->through->push(*self);
    }
};

struct task {
    struct promise_type {
        task get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};
struct later : node {
    std::coroutine_handle<> handle;
    later() noexcept {
        run = [](node* n) { static_cast<later*>(n)->handle.resume(); };
    }
    later(later const&) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept {
        handle = h;
        queue.push(*this);
    }
    void await_resume() const noexcept {}
};
task flow(long n) {
    for (long i = 0; i != n; ++i)
        co_await later();
}

void run_from_thread(long n) {
    using clock = std::chrono::steady_clock;
    std::vector<node> nodes(static_cast<std::size_t>(n));
    std::atomic<node*> inbox = nullptr;
    auto const begun = clock::now();
    std::thread poster([&] {
        for (node& one : nodes) {
            one.next = inbox.load(std::memory_order_relaxed);
            while (!inbox.compare_exchange_weak(one.next, &one, std::memory_order_release, std::memory_order_relaxed))
                ;
        }
    });
    for (long left = n; left != 0;) {
        node* taken =
            inbox.load(std::memory_order_relaxed) ? inbox.exchange(nullptr, std::memory_order_acquire) : nullptr;
        node* in_order = nullptr; // as a queue has them
        while (taken)
            taken = std::exchange(taken->next, std::exchange(in_order, taken));
        for (; in_order; in_order = in_order->next)
            --left;
    }
    auto const took = std::chrono::duration<double, std::nano>(clock::now() - begun);
    poster.join();
    std::printf("%.3f wall ns\n", took.count() / static_cast<double>(n));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    long const n = std::atol(argv[2]), flows = std::atol(argv[3]);
    if (std::strcmp(argv[1], "fifo") == 0) {
        std::vector<chain> chains(static_cast<std::size_t>(flows));
        for (chain& c : chains) {
            c.run = &chain::step;
            c.left = n / flows;
            queue.push(c);
        }
        queue.run();
    } else if (std::strcmp(argv[1], "strand") == 0) {
        strand one;
        std::vector<strand_chain> chains(static_cast<std::size_t>(flows));
        for (strand_chain& c : chains) {
            c.run = &strand_chain::step;
            c.through = &one;
            c.left = n / flows;
            one.push(c);
        }
        queue.run();
    } else if (std::strcmp(argv[1], "coroutine") == 0) {
        for (long i = 0; i != flows; ++i)
            flow(n / flows);
        queue.run();
    } else if (std::strcmp(argv[1], "from_thread") == 0) {
        run_from_thread(n);
    } else {
        return 2;
    }
}
