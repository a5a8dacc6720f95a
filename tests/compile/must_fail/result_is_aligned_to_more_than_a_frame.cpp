// Fails: frames are aligned to 16 bytes
#include <fairlead/coro/awaitable.hpp>

#include <memory>

struct alignas(64) lane {
    int value[16];
};
#ifdef GOOD
fairlead::awaitable<std::unique_ptr<lane>> child() { co_return std::make_unique<lane>(); }
#else
fairlead::awaitable<lane> child() { co_return lane(); }
#endif
