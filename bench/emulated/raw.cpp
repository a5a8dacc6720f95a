// The limits: what one writes by hand on the emulated operating system.
//
//   raw ROW endless|counted N
//     ROW  machine  a state machine in C's manner: the operating system calls it directly
//          awaiter  the awaiter of P0055R1, in a coroutine with nothing else
//          promise  a std::promise for each operation, whose future is asked once it is done
#include "flows.hpp"
#include "os.hpp"

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <future>

namespace {

struct machine : os_context {
    long i = 0;
    long last;
    explicit machine(long n) : os_context{}, last(n) {}
};
template <bool Counted> void step(int, os_context* c) {
    auto* self = static_cast<machine*>(c);
    if constexpr (Counted)
        if (++self->i == self->last) {
            delete self;
            return;
        }
    os_xyz(0, self);
}

struct operation : os_context {
    void (*complete)(int, operation*);
};
struct awaiter : operation {
    std::coroutine_handle<> handle;
    int result;
    int param;
    explicit awaiter(int p) noexcept : param(p) {
        complete = [](int r, operation* o) {
            auto* self = static_cast<awaiter*>(o);
            self->result = r;
            self->handle.resume();
        };
    }
    awaiter(awaiter const&) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept {
        handle = h;
        os_xyz(param, this);
    }
    int await_resume() const noexcept { return result; }
};
struct coroutine {
    struct promise_type {
        coroutine get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};
template <bool Counted> coroutine flow(long n) {
    for (long i = 0; !Counted || i != n; ++i)
        co_await awaiter(0);
}

struct promised : operation {
    std::promise<int> promise;
    promised() : operation{} {
        complete = [](int r, operation* o) { static_cast<promised*>(o)->promise.set_value(r); };
    }
};
void run_promises(long n) {
    std::array<promised, flows> all;
    std::array<std::future<int>, flows> pending;
    auto const start = [&](std::size_t i) {
        all[i].promise = std::promise<int>();
        pending[i] = all[i].promise.get_future();
        os_xyz(0, &all[i]);
    };
    for (std::size_t i = 0; i != flows; ++i)
        start(i);
    for (long done = 0; done != n; done += flows)
        for (std::size_t i = 0; i != flows; ++i) {
            os_trigger_completion();
            if (pending[i].get() != 0)
                std::abort();
            start(i);
        }
    std::_Exit(0); // The last ten are not to be cleared away.
}

template <bool Counted> int run(task const& t) {
    if (t.is("machine")) {
        os_associate_completion_callback(&step<Counted>);
        for (int i = 0; i != flows; ++i)
            os_xyz(0, new machine(t.each()));
    } else if (t.is("awaiter") || t.is("promise")) {
        os_associate_completion_callback([](int r, os_context* c) {
            auto* o = static_cast<operation*>(c);
            o->complete(r, o);
        });
        if (t.is("promise"))
            run_promises(t.triggers);
        for (int i = 0; i != flows; ++i)
            flow<Counted>(t.each());
    } else {
        return 2;
    }
    for (long i = 0; i != t.triggers; ++i)
        os_trigger_completion();
    std::_Exit(0); // Flows that never end are not to be cleared away.
}

} // namespace

int main(int argc, char** argv) {
    task const t(argc, argv);
    return t.is_counted ? run<true>(t) : run<false>(t);
}
