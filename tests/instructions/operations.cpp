// The subject of callgrind: N operations, all of which succeed.
//
//   operations echo N             64-byte messages through a UNIX pair, awaited
//   operations echo_callbacks N   the same with callbacks
//   operations post N         a chain of posts whose handlers name no allocator
//   operations post_own_memory N             the same with one block, as in the program of P0162
//   operations strand N                 the same through a strand
//   operations yield N                  a coroutine that gives way
//   operations read_until N             async_read_until that finds its delimiter in the buffer, awaited
//   operations read_until_callbacks N   the same with callbacks
//   operations read_until_sender N      the same as a sender that is repeated
//   operations try_step N               an awaited operation of a user's that is ready
//   operations timer N                  a timer that is set, waited for and cancelled
#include "even_clock.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sender/connected_op.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <tuple>
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

struct exchanger {
    socket_type a, b;
    char from[64] = {}, into[64];
    long left;
    exchanger(io_context& context, long n) : a(context), b(context), left(n) { connect_pair(a, b); }
    void next() {
        if (left-- > 0)
            async_write(b, buffer(from), [this](error_code, std::size_t) {
                a.async_read_some(buffer(into), [this](error_code, std::size_t) { next(); });
            });
    }
};

struct line_reader {
    socket_type stream;
    std::string text = "Hello, world!\n";
    long left;
    line_reader(io_context& context, long n) : stream(context), left(n) {}
    void next() {
        if (left-- > 0)
            async_read_until(stream, dynamic_buffer(text), '\n', [this](error_code, std::size_t) { next(); });
    }
    static awaitable<void> read(line_reader& self) {
        while (self.left-- > 0)
            co_await async_read_until(self.stream, dynamic_buffer(self.text), '\n');
    }
};

/// As line_reader, with an operation state for each search.
class line_sender {
public:
    line_sender(socket_type& s, std::string& t, long n) : stream_(s), text_(t), left_(n) {}
    line_sender(line_sender const&) = delete;
    line_sender& operator=(line_sender const&) = delete;

    void next() noexcept {
        if (left_-- > 0) {
            operation_.emplace(made{this});
            execution::start(*operation_);
        }
    }

private:
    struct receiver {
        using receiver_concept = execution::receiver_tag;
        line_sender* of;
        void set_value(std::size_t) noexcept { of->next(); }
        template <class Error> void set_error(Error&&) noexcept {}
        void set_stopped() noexcept {}
    };
    using operation = execution::connect_result_t<async_op<void(error_code, std::size_t)>, receiver>;
    struct made {
        line_sender* of;
        operator operation() const {
            return execution::connect(async_read_until(of->stream_, dynamic_buffer(of->text_), '\n'), receiver{of});
        }
    };

    socket_type& stream_;
    std::string& text_;
    long left_;
    std::optional<operation> operation_;
};

struct count_down {
    long& left;

    std::optional<std::tuple<error_code, std::size_t>> try_step() const {
        return std::tuple(error_code(), static_cast<std::size_t>(--left));
    }
    template <class Handler> void operator()(Handler&&) const { std::abort(); } // It never has to wait.
};
awaitable<void> try_steps(long n) {
    while (n > 0)
        co_await async_initiate<void(error_code, std::size_t)>(count_down{n}, use_await);
}

awaitable<void> give_way(long n) {
    for (long i = 0; i != n; ++i)
        co_await this_coro::yield();
}

struct canceller {
    steady_timer timer;
    long left;
    canceller(io_context& context, long n) : timer(context), left(n) {}
    void next() {
        if (left-- <= 0)
            return;
        timer.expires_after(std::chrono::hours(1));
        timer.async_wait([this](error_code) { next(); });
        timer.cancel();
    }
};

struct one_block {
    alignas(16) std::byte bytes[256];
    bool taken = false;
};
template <class T> struct block_allocator {
    using value_type = T;
    one_block* memory;
    explicit block_allocator(one_block* s) noexcept : memory(s) {}
    template <class U> block_allocator(block_allocator<U> const& o) noexcept : memory(o.memory) {}
    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        if (n * sizeof(T) > sizeof memory->bytes || memory->taken)
            return static_cast<T*>(::operator new(n * sizeof(T)));
        memory->taken = true;
        return reinterpret_cast<T*>(memory->bytes);
    }
    void deallocate(T* p, std::size_t) noexcept
        requires(!std::is_void_v<T>)
    {
        if (reinterpret_cast<std::byte*>(p) == memory->bytes)
            memory->taken = false;
        else
            ::operator delete(p);
    }
    template <class U> bool operator==(block_allocator<U> const& o) const noexcept { return memory == o.memory; }
};

struct chain {
    io_context* context;
    long left;
    one_block* memory; // here too, so that both chains move as many bytes
    void operator()() {
        if (--left > 0)
            post(*context, chain(*this));
    }
};
struct strand_chain {
    strand<io_context::executor_type> on;
    long left;
    void operator()() {
        if (--left > 0) {
            auto const target = on; // Moved from below.
            post(target, strand_chain(std::move(*this)));
        }
    }
};
struct own_chain : chain {
    using allocator_type = block_allocator<void>;
    allocator_type get_allocator() const noexcept { return allocator_type(memory); }
    void operator()() {
        if (--left > 0)
            post(*context, own_chain(*this));
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    auto const is = [&](char const* mode) { return std::strcmp(argv[1], mode) == 0; };
    auto const n = std::atol(argv[2]);
    io_context context(1);
    one_block memory;
    exchanger exchange_callbacks(context, n);
    line_reader lines(context, n);
    line_sender senders(lines.stream, lines.text, n);
    canceller timers(context, n);
    if (is("echo"))
        co_spawn(context, exchange(context, n), detached);
    else if (is("echo_callbacks"))
        exchange_callbacks.next();
    else if (is("post"))
        post(context, chain{&context, n, &memory});
    else if (is("post_own_memory"))
        post(context, own_chain{{&context, n, &memory}});
    else if (is("strand"))
        strand_chain{make_strand(context), n + 1}();
    else if (is("yield"))
        co_spawn(context, give_way(n), detached);
    else if (is("read_until"))
        co_spawn(context, line_reader::read(lines), detached);
    else if (is("read_until_callbacks"))
        lines.next();
    else if (is("read_until_sender"))
        post(context, [&] { senders.next(); });
    else if (is("try_step"))
        co_spawn(context, try_steps(n), detached);
    else if (is("timer"))
        timers.next();
    else
        return 2;
    context.run();
}
