// Fails: this operation cannot be ended early, so that it takes no
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/resolver.hpp>

void look_up(fairlead::ip::tcp::resolver& resolver) {
    auto const handler = [](fairlead::error_code, fairlead::ip::tcp::resolver::results_type const&) {};
#ifdef GOOD
    resolver.async_resolve("example", "80", handler);
#else
    resolver.async_resolve("example", "80", fairlead::cancel_after(std::chrono::seconds(1), handler));
#endif
}
