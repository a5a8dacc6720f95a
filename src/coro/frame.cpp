#include <fairlead/coro/awaitable.hpp>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace fairlead::impl::coro {

void frame_is_misplaced() noexcept {
    std::fputs("fairlead: the compiler has laid out a coroutine so that it cannot be resumed (a defect of g++ 12). It "
               "has a co_await in the condition of an if, while, do or switch, and no local variable before that. "
               "Declare one, for example: bool const go = co_await ...; if (go) ...\n",
               stderr);
    std::abort();
}

void failure_of_coroutine::keep() noexcept {
    ::new (static_cast<void*>(&error_)) std::exception_ptr(std::current_exception());
    failed_ = true;
}
void failure_of_coroutine::forget() noexcept { error_.~exception_ptr(); }
void failure_of_coroutine::rethrow() const { std::rethrow_exception(error_); }
void failure_of_coroutine::rethrow_and_forget() {
    std::exception_ptr const error(std::move(error_));
    forget();
    failed_ = false;
    std::rethrow_exception(error);
}

} // namespace fairlead::impl::coro
