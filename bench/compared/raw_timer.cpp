// The limit of timer.cpp: a binary heap that knows where each timer stands, or a wheel of one-millisecond buckets. The
// clock is read whenever a deadline is set. Each timer that ends calls a function that the compiler cannot see.
//
//   raw_timer heap|wheel ROW N PENDING
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <time.h>
#include <vector>

namespace {

std::int64_t now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1'000'000'000L + t.tv_nsec;
}
constexpr std::int64_t us = 1000, ms = 1000 * us, s = 1000 * ms, hour = 3600 * s;

long ended;
void count_end() { ++ended; }
void (*volatile handler)() = count_end;

using id = std::uint32_t;

class heap {
public:
    explicit heap(std::size_t timers) : place_(timers) {}

    void add(id timer, std::int64_t when) {
        entries_.push_back({when, timer});
        up(entries_.size() - 1);
    }
    void remove(id timer) { take(place_[timer]); }
    void move(id timer, std::int64_t when) {
        entries_[place_[timer]].when = when;
        down(place_[timer]);
        up(place_[timer]);
    }
    bool expire_one(std::int64_t now) {
        if (entries_.empty() || entries_[0].when > now)
            return false;
        take(0);
        return true;
    }
    bool empty() const { return entries_.empty(); }
    std::int64_t first() const { return entries_[0].when; }

private:
    struct entry {
        std::int64_t when;
        id timer;
    };
    void put(std::size_t at, entry e) {
        entries_[at] = e;
        place_[e.timer] = static_cast<id>(at);
    }
    void take(std::size_t at) {
        entry const last = entries_.back();
        entries_.pop_back();
        if (at == entries_.size())
            return;
        put(at, last);
        down(at);
        up(place_[last.timer]);
    }
    void up(std::size_t at) {
        entry const e = entries_[at];
        for (; at != 0 && entries_[(at - 1) / 2].when > e.when; at = (at - 1) / 2)
            put(at, entries_[(at - 1) / 2]);
        put(at, e);
    }
    void down(std::size_t at) {
        entry const e = entries_[at];
        for (std::size_t child; (child = 2 * at + 1) < entries_.size(); at = child) {
            if (child + 1 < entries_.size() && entries_[child + 1].when < entries_[child].when)
                ++child;
            if (entries_[child].when >= e.when)
                break;
            put(at, entries_[child]);
        }
        put(at, e);
    }
    std::vector<entry> entries_;
    std::vector<id> place_;
};

/// A timer that is more than a minute ahead stays in its bucket for several turns; only rows without expiry use it.
class wheel {
public:
    explicit wheel(std::size_t timers) : links_(timers + buckets) {
        for (id i = 0; i != buckets; ++i)
            links_[i] = {i, i};
    }
    void add(id timer, std::int64_t when) {
        id const bucket = static_cast<id>(when / ms % buckets), n = timer + buckets;
        links_[n] = {bucket, links_[bucket].next};
        links_[links_[bucket].next].previous = n;
        links_[bucket].next = n;
    }
    void remove(id timer) {
        auto const l = links_[timer + buckets];
        links_[l.previous].next = l.next;
        links_[l.next].previous = l.previous;
    }
    void move(id timer, std::int64_t when) {
        remove(timer);
        add(timer, when);
    }

private:
    static constexpr id buckets = 65536;
    struct link {
        id previous, next;
    };
    std::vector<link> links_;
};

template <class Queue> int run(char const* row, long n, long pending) {
    auto const is = [&](char const* name) { return std::strcmp(row, name) == 0; };
    Queue queue(static_cast<std::size_t>(pending) + 1);
    std::minstd_rand random(1);
    auto const between = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least / us, most / us)(random) * us;
    };
    auto const make = [&](long count, std::int64_t least, std::int64_t most) {
        for (id i = 0; i != static_cast<id>(count); ++i)
            queue.add(i, now_ns() + between(least, most));
    };
    if (is("many")) {
        for (; n > 0; n -= pending) {
            long const block = std::min(n, pending);
            make(block, 10 * s, 15 * s);
            for (id i = 0; i != static_cast<id>(block); ++i) {
                queue.remove(i);
                handler();
            }
        }
        return 0;
    }
    id const mine = static_cast<id>(pending);
    if (is("cancel") || is("rearm")) {
        make(pending, hour, 2 * hour);
        if (is("rearm"))
            queue.add(mine, now_ns() + hour);
        for (; n != 0; --n) {
            if (is("rearm")) {
                queue.move(mine, now_ns() + between(hour, 2 * hour));
            } else {
                queue.add(mine, now_ns() + hour);
                queue.remove(mine);
            }
            handler();
        }
        return 0;
    }
    if constexpr (requires { queue.expire_one(0); }) {
        if (is("expire")) {
            for (; n > 0; n -= pending) {
                make(std::min(n, pending), 0, ms);
                while (!queue.empty()) {
                    auto const now = now_ns();
                    if (auto const early = queue.first() - now; early > 0) {
                        timespec const t{0, early};
                        nanosleep(&t, nullptr);
                    }
                    while (queue.expire_one(now))
                        handler();
                }
            }
            return 0;
        }
        if (is("due")) {
            make(pending, hour, 2 * hour);
            for (; n != 0; --n) {
                auto const now = now_ns();
                queue.add(mine, now);
                while (queue.expire_one(now))
                    handler();
            }
            return 0;
        }
    }
    return 2;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    long const n = std::atol(argv[3]), pending = std::atol(argv[4]);
    return std::strcmp(argv[1], "heap") == 0 ? run<heap>(argv[2], n, pending) : run<wheel>(argv[2], n, pending);
}
