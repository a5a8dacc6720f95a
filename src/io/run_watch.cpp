#include <io/run_watch.hpp>

#include <fairlead/base/error.hpp>
#include <fairlead/io/io_loop.hpp>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include <unistd.h>

namespace fairlead::io::impl {
namespace {

// Under the mutex.
constinit run_watch* first = nullptr;
constinit std::uint64_t last_number = 0;

/// The watch that has this thread in its list, of those that it entered last. A thread that shares a loop comes by
/// before each share.
constinit thread_local std::uint64_t is_known_to = 0;

} // namespace

std::mutex& run_watch::mutex() noexcept {
    alignas(std::mutex) static std::byte place[sizeof(std::mutex)];
    static auto* const m = [] {
        auto* const made = ::new (place) std::mutex; // Never destroyed: detectors may outlive main().
        ::pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); }, [] { mutex().unlock(); });
        return made;
    }();
    return *m;
}

run_watch* run_watch::of(std::uint64_t number) noexcept {
    auto* w = first;
    while (w && w->number_ != number)
        w = w->next_;
    return w;
}

run_watch::run_watch(io_loop& l, std::int64_t limit_ns)
    : loop_(l),
      number_([] {
          std::lock_guard const lock(mutex());
          return ++last_number;
      }()),
      limit_ns_(limit_ns) {
    threads_.reserve(8);
    {
        std::lock_guard const lock(mutex());
        if (l.watch_.load(std::memory_order_relaxed) != 0)
            fairlead::impl::base::throw_error_now(error::make_error_code(error::already_open), "stall_detector");
        next_ = std::exchange(first, this);
        l.watch_.store(number_, std::memory_order_relaxed);
    }
    // The owner of the loop does not come by again.
    l.on_owner([&l](bool) noexcept { enters(l); });
}

run_watch::~run_watch() {
    std::lock_guard const lock(mutex());
    loop_.watch_.store(0, std::memory_order_relaxed);
    auto** w = &first;
    while (*w != this)
        w = &(*w)->next_;
    *w = next_;
}

void run_watch::enters(io_loop& l) noexcept {
    auto const number = l.watch_.load(std::memory_order_relaxed);
    if (number == is_known_to || !l.is_running_this())
        return;
    std::lock_guard const lock(mutex());
    auto* const w = of(number);
    if (!w)
        return;
    is_known_to = number;
    auto const* const self = &fairlead::impl::exec::this_thread.owning;
    if (std::ranges::find(w->threads_, self, &watched_thread::state) != w->threads_.end())
        return;
    try {
        w->threads_.push_back({self, ::pthread_self(), ::gettid(), stall_judge(w->limit_ns_)});
    } catch (std::bad_alloc const&) {
        is_known_to = 0; // It tries again when it comes by.
    }
}

void run_watch::leaves(io_loop& l) noexcept {
    is_known_to = 0;
    std::lock_guard const lock(mutex());
    if (auto* const w = of(l.watch_.load(std::memory_order_relaxed)))
        std::erase_if(w->threads_, [self = &fairlead::impl::exec::this_thread.owning](watched_thread const& t) {
            return t.state == self;
        });
}

std::optional<place_in_run> run_watch::place_of_caller(io_loop& l) noexcept {
    auto const& thread = fairlead::impl::exec::this_thread;
    auto const* const f = thread.frames;
    if (!f || f->runs != &l)
        return {};
    // A thread that the loop was taken from stays where it is, whatever the loop does.
    bool const owns = l.ownership_.is_plainly_of(thread.owning);
    return place_in_run{f, owns ? l.counters_.turns : 0, thread.item.items, thread.item.functions,
                        thread.item.slice_end_ns};
}

std::array<void const*, 4> run_watch::callers_of_items() noexcept {
    // A pointer to a member function that is not virtual begins with the function's address, in every ABI of ours.
    auto const address = [](auto member) {
        return std::bit_cast<std::array<void const*, sizeof member / sizeof(void*)>>(member)[0];
    };
    return {address(&io_loop::run_batch), address(&io_loop::run_share),
            reinterpret_cast<void const*>(&io_loop::resume_rest),
            reinterpret_cast<void const*>(static_cast<void (*)(op&)>(&io_loop::run_outside))};
}

} // namespace fairlead::io::impl
