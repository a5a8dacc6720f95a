// The benchmarks of P0162R0 §4 and P0055R1: an operation that a user makes of the emulated operating system, and ten
// flows that start it. The user makes it with the means of the library. One source for Fairlead (through the headers of
// fairlead::asio_compat) and for Asio.
//
//   library ROW endless|counted N
//     ROW  callback_default  handlers that name no allocator
//          callback_custom   handlers with an allocator as in the programs of P0162R0: a block for each flow, which
//                            knows whether it is taken, and global new for what does not fit
//          callback_unasked  the same, but the block is never asked: what a compiler sees through altogether
//          coroutine         coroutines that await the operation
//          own_coroutine     the same, the operation written as those of the library itself are; Fairlead alone has
//          that use_future        a future for each operation
#include "flows.hpp"
#include "os.hpp"

#include <asio.hpp>

#include <array>
#include <cstddef>
#include <future>
#include <memory>
#include <new>
#include <utility>

namespace {

#if defined(FAIRLEAD_VERSION_MAJOR) || ASIO_VERSION >= 102300
using default_allocator = asio::recycling_allocator<void>;
#else
using default_allocator = std::allocator<void>; // this version keeps its own to itself
#endif

struct operation : os_context {
    void (*complete)(int, operation*);
};
template <class Handler> struct handler_operation : operation {
    Handler handler;
    using allocator = typename std::allocator_traits<
        asio::associated_allocator_t<Handler, default_allocator>>::template rebind_alloc<handler_operation>;
    static allocator allocator_for(Handler const& h) {
        return allocator(asio::get_associated_allocator(h, default_allocator()));
    }

    explicit handler_operation(Handler&& h) : operation{}, handler(std::move(h)) {
        complete = [](int r, operation* o) {
            auto* self = static_cast<handler_operation*>(o);
            Handler moved(std::move(self->handler));
            auto memory = allocator_for(moved);
            self->~handler_operation();
            memory.deallocate(self, 1); // Before the call, so that the next operation can have it (P0162R0 §4.4).
            std::move(moved)(r);
        };
    }
};
struct start_xyz {
    int param;
    template <class Handler> void operator()(Handler&& h) const {
        using made = handler_operation<std::decay_t<Handler>>;
        auto memory = made::allocator_for(h);
        os_xyz(param, ::new (static_cast<void*>(memory.allocate(1))) made(std::forward<Handler>(h)));
    }
};
template <class Token> auto async_xyz(int param, Token&& token) {
    return asio::async_initiate<Token, void(int)>(start_xyz{param}, token);
}

// ---- callbacks

struct block {
    alignas(std::max_align_t) std::byte bytes[128 - sizeof(bool)];
    bool is_taken = false;
};
template <class T, bool Asks> struct block_allocator {
    using value_type = T;
    template <class U> struct rebind {
        using other = block_allocator<U, Asks>;
    };
    block* at;
    explicit block_allocator(block* s) noexcept : at(s) {}
    template <class U> block_allocator(block_allocator<U, Asks> const& o) noexcept : at(o.at) {}
    T* allocate(std::size_t n) {
        static_assert(sizeof(T) <= sizeof(block::bytes));
        if (Asks ? at->is_taken || n * sizeof(T) > sizeof(block::bytes) : n != 1)
            return static_cast<T*>(::operator new(n * sizeof(T)));
        at->is_taken = Asks;
        return reinterpret_cast<T*>(at->bytes);
    }
    void deallocate(T* p, std::size_t) noexcept {
        if (!Asks)
            return;
        if (reinterpret_cast<std::byte*>(p) == at->bytes)
            at->is_taken = false;
        else
            ::operator delete(p);
    }
    template <class U> bool operator==(block_allocator<U, Asks> const& o) const noexcept { return at == o.at; }
    template <class U> bool operator!=(block_allocator<U, Asks> const& o) const noexcept { return at != o.at; }
};

template <bool Counted> struct state {
    block memory;
    long i = 0;
    long last;
    explicit state(long n) : last(n) {}
    bool has_ended() {
        if constexpr (Counted)
            if (++i == last) {
                delete this;
                return true;
            }
        return false;
    }
};
template <bool Counted> struct callback {
    state<Counted>* self;
    void operator()(int) {
        if (!self->has_ended())
            async_xyz(0, callback(*this));
    }
};
template <bool Counted, bool Asks> struct custom_callback {
    using allocator_type = block_allocator<std::byte, Asks>;
    state<Counted>* self;
    allocator_type get_allocator() const noexcept { return allocator_type(&self->memory); }
    void operator()(int) {
        if (!self->has_ended())
            async_xyz(0, custom_callback(*this));
    }
};

// ---- coroutines

template <bool Counted> asio::awaitable<void> flow(long n) {
    for (long i = 0; !Counted || i != n; ++i)
        co_await async_xyz(0, asio::use_awaitable);
}

#ifdef FAIRLEAD_VERSION_MAJOR
/// The parts of a socket's read, with the emulated operating system in the place of the driver.
struct own_xyz : asio::impl::operation::primitive<own_xyz> {
    using signature = void(int);
    struct record : asio::op {
        struct from_os : operation {
            record* whole;
        } os;
        record() noexcept {}
    };
    asio::loop* at;
    int param;
    own_xyz(asio::loop* l, int p) : at(l), param(p) {}
    asio::loop* home() const noexcept { return at; }
    void prepare(record& r) const noexcept {
        r.cancel = nullptr;
        r.os.whole = &r;
        r.os.complete = [](int result, operation* o) {
            auto* self = static_cast<record::from_os*>(o)->whole;
            self->result.error = result;
            if (self->run)
                self->run(self, asio::op_mode::complete);
            else
                asio::impl::exec::this_thread.current->resume_op(*self);
        };
    }
    void submit(record& r) const noexcept { os_xyz(param, &r.os); }
    static std::tuple<int> take(record& r) noexcept { return {r.result.error}; }
};
auto async_own_xyz(asio::loop* at, int param) {
    return asio::completion_token_transform<void(int)>(asio::use_await, own_xyz(at, param));
}
template <bool Counted> asio::awaitable<void> own_flow(asio::loop* at, long n) {
    for (long i = 0; !Counted || i != n; ++i)
        co_await async_own_xyz(at, 0);
}
#endif

// ---- futures

void run_futures(long n) {
    std::array<std::future<int>, flows> pending;
    for (auto& one : pending)
        one = async_xyz(0, asio::use_future);
    for (long i = 0; i != n; i += flows)
        for (auto& one : pending) {
            os_trigger_completion();
            if (one.get() != 0)
                std::abort();
            one = async_xyz(0, asio::use_future);
        }
}

template <bool Counted> int run(task const& t) {
    os_associate_completion_callback([](int r, os_context* c) {
        auto* o = static_cast<operation*>(c);
        o->complete(r, o);
    });
    asio::io_context context(1);
    auto const ten_times = [](auto start) {
        for (int i = 0; i != flows; ++i)
            start();
    };
    if (t.is("callback_default"))
        ten_times([&] { async_xyz(0, callback<Counted>{new state<Counted>(t.each())}); });
    else if (t.is("callback_custom"))
        ten_times([&] { async_xyz(0, custom_callback<Counted, true>{new state<Counted>(t.each())}); });
    else if (t.is("callback_unasked"))
        ten_times([&] { async_xyz(0, custom_callback<Counted, false>{new state<Counted>(t.each())}); });
    else if (t.is("coroutine"))
        ten_times([&] { asio::co_spawn(context, flow<Counted>(t.each()), asio::detached); });
#ifdef FAIRLEAD_VERSION_MAJOR
    else if (t.is("own_coroutine"))
        ten_times([&] { asio::co_spawn(context, own_flow<Counted>(&context.as_loop(), t.each()), asio::detached); });
#endif
    else if (!t.is("use_future"))
        return 2;
    context.poll(); // Coroutines run up to their first await of the operation.
    context.restart();
    // From inside the loop, as the completions of a context are.
    asio::post(context, [&] {
        if (t.is("use_future"))
            run_futures(t.triggers);
        else
            for (long i = 0; i != t.triggers; ++i)
                os_trigger_completion();
        std::_Exit(0); // Flows that never end are not to be cleared away.
    });
    context.run();
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    task const t(argc, argv);
    return t.is_counted ? run<true>(t) : run<false>(t);
}
