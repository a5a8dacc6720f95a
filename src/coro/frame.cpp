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

void keep_exception(std::exception_ptr& e) noexcept { e = std::current_exception(); }
void rethrow(std::exception_ptr const& e) { std::rethrow_exception(e); }
void rethrow_and_forget(std::exception_ptr& e) { std::rethrow_exception(std::exchange(e, nullptr)); }

} // namespace fairlead::impl::coro
