// The thread of Asio's inside: one that is not joined goes on by itself.
#pragma once

#include <asio/fairlead.hpp>

#include <cstddef>
#include <thread>
#include <utility>

namespace fairlead::detail {

class thread {
public:
    thread() noexcept = default;
    template <class Function> explicit thread(Function f, unsigned = 0) : thread_(std::move(f)) {}
    thread(thread&&) noexcept = default;
    thread& operator=(thread&& other) noexcept {
        leave();
        thread_ = std::move(other.thread_);
        return *this;
    }
    ~thread() { leave(); }

    bool joinable() const noexcept { return thread_.joinable(); }
    /// Waits for the end of the function; a second call returns at once.
    void join() {
        if (thread_.joinable())
            thread_.join();
    }
    static std::size_t hardware_concurrency() { return std::thread::hardware_concurrency(); }

private:
    void leave() {
        if (thread_.joinable())
            thread_.detach();
    }

    std::thread thread_;
};

} // namespace fairlead::detail
