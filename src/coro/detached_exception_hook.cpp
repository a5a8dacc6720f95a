#include <fairlead/coro/detached_exception_hook.hpp>

#include <fairlead/operation/chain_requests.hpp>

#include <atomic>
#include <cstdio>

namespace fairlead {
namespace {

void write_line(std::exception_ptr e) noexcept {
    try {
        std::rethrow_exception(std::move(e));
    } catch (std::exception const& x) {
        std::fprintf(stderr, "fairlead: a detached coroutine has thrown: %s\n", x.what());
    } catch (...) {
        std::fputs("fairlead: a detached coroutine has thrown something that is no std::exception\n", stderr);
    }
}

constinit std::atomic<detached_exception_hook> hook_of_all{&write_line};

} // namespace

detached_exception_hook set_detached_exception_hook(detached_exception_hook hook) noexcept {
    return hook_of_all.exchange(hook, std::memory_order_acq_rel);
}

void impl::coro::detached_has_thrown(std::exception_ptr const& e) noexcept {
    auto const hook = hook_of_all.load(std::memory_order_acquire);
    if (hook && !operation::is_cancellation(e))
        hook(e);
}

} // namespace fairlead
