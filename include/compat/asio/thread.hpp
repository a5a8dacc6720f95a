// Asio's thread, from before there was one in the standard library.
#pragma once

#include <asio/detail/socket_types.hpp>
#include <asio/detail/thread.hpp>
#include <asio/fairlead.hpp>

#include <utility>

namespace fairlead {

class thread {
public:
    template <class Function> explicit thread(Function&& f) : thread_(std::forward<Function>(f)) {}
    thread(thread const&) = delete;
    thread& operator=(thread const&) = delete;

    /// Waits for the end of the function; a second call returns at once.
    void join() { thread_.join(); }

private:
    detail::thread thread_;
};

} // namespace fairlead
