// Fails: co_await std::move\(op\)
#include <fairlead/coro/awaitable.hpp>
#include <fairlead/sync/message_channel.hpp>

fairlead::awaitable<void> receive(fairlead::channel_receiver<int>& from) {
    auto op = from.next();
#ifdef GOOD
    co_await std::move(op);
#else
    co_await op;
#endif
}
