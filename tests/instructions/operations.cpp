// What count.py counts the instructions of: N operations, all of which succeed.
//
//   operations read_write N             64-byte messages through a UNIX pair, awaited
//   operations default_memory N         a chain of posts whose handlers name no allocator
//   operations own_memory N             the same with an allocator as users write them for one chain: one slot
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

awaitable<void> exchange(io_context& context, long n) {
    socket_type a(context), b(context);
    connect_pair(a, b);
    char from[64] = {}, into[64];
    for (long i = 0; i != n; ++i) {
        co_await async_write(b, buffer(from));
        co_await a.async_read_some(buffer(into));
    }
}

struct one_slot {
    alignas(16) std::byte bytes[256];
    bool taken = false;
};
template <class T> struct slot_allocator {
    using value_type = T;
    one_slot* slot;
    explicit slot_allocator(one_slot* s) noexcept : slot(s) {}
    template <class U> slot_allocator(slot_allocator<U> const& o) noexcept : slot(o.slot) {}
    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        if (std::exchange(slot->taken, true) || n * sizeof(T) > sizeof slot->bytes)
            throw std::bad_alloc();
        return reinterpret_cast<T*>(slot->bytes);
    }
    void deallocate(T*, std::size_t) noexcept
        requires(!std::is_void_v<T>)
    {
        slot->taken = false;
    }
    template <class U> bool operator==(slot_allocator<U> const& o) const noexcept { return slot == o.slot; }
};

struct chain {
    io_context* context;
    long left;
    one_slot* slot; // here too, so that both chains move as many bytes
    void operator()() {
        if (--left > 0)
            post(*context, chain(*this));
    }
};
struct own_chain : chain {
    using allocator_type = slot_allocator<void>;
    allocator_type get_allocator() const noexcept { return allocator_type(slot); }
    void operator()() {
        if (--left > 0)
            post(*context, own_chain(*this));
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    auto const n = std::atol(argv[2]);
    io_context context(1);
    one_slot slot;
    if (std::strcmp(argv[1], "read_write") == 0)
        co_spawn(context, exchange(context, n), detached);
    else if (std::strcmp(argv[1], "default_memory") == 0)
        post(context, chain{&context, n, &slot});
    else
        post(context, own_chain{{&context, n, &slot}});
    context.run();
}
