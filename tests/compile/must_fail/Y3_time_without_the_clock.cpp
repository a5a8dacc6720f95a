// Fails: which clock the loop counts on: write #include <fairlead/io/clock.hpp>
#include <fairlead/io/io_context.hpp>

#include <chrono>
#ifdef GOOD
#include <fairlead/io/clock.hpp>
#endif

void run(fairlead::io_context& context) { context.run_until(std::chrono::steady_clock::time_point()); }
