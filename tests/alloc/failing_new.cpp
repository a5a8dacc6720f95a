#include <alloc/failing_new.hpp>

#include <cstdlib>
#include <new>

namespace fairlead::test {

std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> largest{0};
std::atomic<std::size_t> allocated_bytes{0};
std::atomic<long> live_blocks{0};

namespace {

constinit thread_local std::size_t fails_at = 0; // 0: never
constinit thread_local bool all_fail_after = false;
constinit thread_local std::size_t failures_here = 0;
constinit thread_local bool spared = false;
std::atomic<bool> all_others_fail{false};

bool fails() noexcept {
    if (all_others_fail.load(std::memory_order_relaxed) && !spared)
        return true;
    if (fails_at == 0)
        return false;
    if (fails_at != 1) {
        --fails_at;
        return false;
    }
    if (!all_fail_after)
        fails_at = 0;
    ++failures_here;
    return true;
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
    if (fails())
        return nullptr;
    allocations.fetch_add(1, std::memory_order_relaxed);
    allocated_bytes.fetch_add(size, std::memory_order_relaxed);
    if (size > largest)
        largest = size;
    void* const p = alignment <= alignof(std::max_align_t)
                        ? std::malloc(size ? size : 1)
                        : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (p)
        live_blocks.fetch_add(1, std::memory_order_relaxed);
    return p;
}
void* allocate_or_throw(std::size_t size, std::size_t alignment = 0) {
    if (void* p = allocate(size, alignment))
        return p;
    throw std::bad_alloc();
}
void release(void* p) noexcept {
    if (p)
        live_blocks.fetch_sub(1, std::memory_order_relaxed);
    std::free(p);
}

} // namespace

failing_new::failing_new(std::size_t n, bool all_after) noexcept {
    failures_here = 0;
    all_fail_after = all_after;
    fails_at = n;
}
failing_new failing_new::elsewhere() noexcept {
    spared = true;
    all_others_fail = true;
    return failing_new(0, false);
}
failing_new::~failing_new() {
    fails_at = 0;
    all_others_fail = false;
    spared = false;
}
std::size_t failing_new::failed() const noexcept { return failures_here; }

} // namespace fairlead::test

using fairlead::test::allocate;
using fairlead::test::allocate_or_throw;
using fairlead::test::release;

void* operator new(std::size_t n) { return allocate_or_throw(n); }
void* operator new[](std::size_t n) { return allocate_or_throw(n); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, std::nothrow_t const&) noexcept { return allocate(n, 0); }
void* operator new[](std::size_t n, std::nothrow_t const&) noexcept { return allocate(n, 0); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::nothrow_t const&) noexcept { release(p); }
void operator delete[](void* p, std::nothrow_t const&) noexcept { release(p); }
