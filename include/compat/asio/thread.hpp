// Asio's thread, from before there was one in the standard library: one that is not joined goes on by itself.
#pragma once

#include <asio/fairlead.hpp>

#include <thread>
#include <utility>

namespace fairlead {

class thread {
public:
    template <class Function> explicit thread(Function&& f) : thread_(std::forward<Function>(f)) {}
    thread(thread const&) = delete;
    thread& operator=(thread const&) = delete;
    ~thread() {
        if (thread_.joinable())
            thread_.detach();
    }

    /// Waits for the end of the function; a second call returns at once.
    void join() {
        if (thread_.joinable())
            thread_.join();
    }

private:
    std::thread thread_;
};

} // namespace fairlead
