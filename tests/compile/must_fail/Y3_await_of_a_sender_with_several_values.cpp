// Fails: this sender has several kinds of values: let into_variant, or an algorithm, make one of them
#include <fairlead/coro/spawn.hpp>
#include <fairlead/sender/await_sender.hpp>

namespace execution = fairlead::execution;

template <class... Ends> struct sender {
    using sender_concept = execution::sender_tag;
    using completion_signatures = execution::completion_signatures<Ends...>;
    template <class Receiver> struct state {
        using operation_state_concept = execution::operation_state_tag;
        void start() noexcept {}
    };
    template <class Receiver> state<Receiver> connect(Receiver) && { return {}; }
};

fairlead::awaitable<void> wait() {
#ifdef GOOD
    co_await sender<execution::set_value_t(int)>();
#else
    co_await sender<execution::set_value_t(int), execution::set_value_t(long)>();
#endif
}
