// fairlead-redis: a client of Redis for the command line. options.cpp has its manual.
#include "modes.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <utility>

namespace {

/// The last words of a program that fails.
int say_why(std::exception_ptr const& e) {
    try {
        std::rethrow_exception(e);
    } catch (std::exception const& x) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s\n", x.what());
    }
    return 1;
}

int run(cli::options const& o) {
    fairlead::io_context ctx(1);
    int status = 1;
    auto work = o.mode == cli::mode::latency ? cli::measure_latency(o)
                : o.mode == cli::mode::pipe  ? cli::pipe_input(o)
                                             : cli::execute_commands(o);
    fairlead::co_spawn(ctx, std::move(work),
                       [&status](std::exception_ptr e, int ended) { status = e ? say_why(e) : ended; });
    ctx.run();
    return status;
}

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_DFL); // A reader that has gone ends the program, as with any filter.
    try {
        return run(cli::read_arguments(argc, argv));
    } catch (cli::early_end const& e) {
        std::fputs(e.text.c_str(), e.status == 0 ? stdout : stderr);
        return e.status;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
