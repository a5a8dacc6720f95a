// The limits of locks.cpp: bare coroutines, and a list of those that wait.
//
//   raw_locks ROW N
//     ROW  lock, lock_handed, event, barrier  as locks.cpp says
#include "bare_coroutines.hpp"

#include <cstdlib>
#include <cstring>

namespace {

/// Handed over in the order of arrival.
class flag {
public:
    bool await_ready() noexcept { return !std::exchange(is_locked_, true); }
    void await_suspend(std::coroutine_handle<> h) { waiting_.push_back(h); }
    void await_resume() const noexcept {}
    void unlock() {
        if (waiting_.empty()) {
            is_locked_ = false;
        } else {
            can_go_on.push_back(waiting_.front());
            waiting_.pop_front();
        }
    }

private:
    bool is_locked_ = false;
    std::deque<std::coroutine_handle<>> waiting_;
};

class signal_of_one {
public:
    explicit signal_of_one(bool is_set) noexcept : is_set_(is_set) {}
    bool await_ready() const noexcept { return is_set_; }
    void await_suspend(std::coroutine_handle<> h) noexcept { waits_ = h; }
    void await_resume() noexcept { is_set_ = false; }
    void set() {
        is_set_ = true;
        if (waits_)
            can_go_on.push_back(std::exchange(waits_, nullptr));
    }

private:
    bool is_set_;
    std::coroutine_handle<> waits_ = nullptr;
};

class meeting_of_ten {
public:
    bool await_ready() noexcept {
        if (++arrived_ != 10)
            return false;
        arrived_ = 0;
        while (!waiting_.empty()) {
            can_go_on.push_back(waiting_.front());
            waiting_.pop_front();
        }
        return true;
    }
    void await_suspend(std::coroutine_handle<> h) { waiting_.push_back(h); }
    void await_resume() const noexcept {}

private:
    int arrived_ = 0;
    std::deque<std::coroutine_handle<>> waiting_;
};

started lock_and_unlock(flag& f, long n, bool gives_way) {
    for (; n > 0; --n) {
        co_await f;
        if (gives_way)
            co_await give_way();
        f.unlock();
    }
}
started wake_each_other(signal_of_one& mine, signal_of_one& other, long n) {
    for (; n > 0; --n) {
        co_await mine;
        other.set();
    }
}
started meet(meeting_of_ten& m, long n) {
    for (; n > 0; --n)
        co_await m;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    auto const is = [argv](char const* row) { return std::strcmp(argv[1], row) == 0; };
    flag one;
    signal_of_one first(true), second(false);
    meeting_of_ten ten;
    if (is("lock")) {
        lock_and_unlock(one, n, false);
    } else if (is("lock_handed")) {
        lock_and_unlock(one, n / 2, true);
        lock_and_unlock(one, n / 2, true);
    } else if (is("event")) {
        wake_each_other(first, second, n / 2);
        wake_each_other(second, first, n / 2);
    } else if (is("barrier")) {
        for (int i = 0; i != 10; ++i)
            meet(ten, n / 10);
    } else {
        return 2;
    }
    run_all();
}
