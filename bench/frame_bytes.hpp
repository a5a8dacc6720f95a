// The size of a coroutine's frame, seen by a promise that is the library's but for that.
#pragma once

#include <fairlead/coro/awaitable.hpp>

/// The result of such a coroutine. It must not be inlined where it is called: clang then makes no frame.
struct seen_frame {
    struct promise_type : fairlead::impl::coro::awaitable_promise_base<void> {
        static inline std::size_t bytes = 0; ///< of the frame that was made last
        static void* operator new(std::size_t n) { return fairlead::impl::exec::recycle_allocate(bytes = n); }
        static void operator delete(void* p, std::size_t) { fairlead::impl::exec::recycle_free(p); }
        seen_frame get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        void return_void() {}
    };
    std::coroutine_handle<promise_type> handle;
};

/// `make` calls the coroutine.
template <class F> std::size_t frame_bytes(F make) {
    make().handle.destroy();
    return seen_frame::promise_type::bytes;
}
