// A span for each call of a Redis client, with OpenTelemetry's attributes of databases. Here they are printed; a
// program gives them to its exporter. redis_tracing [host:port]. Without an address it talks to the embedded server.
//
// Run as a test:

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/token/adapters.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

using namespace fairlead;

/// Beside the times, which a program takes from its own clock.
struct span {
    std::uint64_t trace = 0, id = 0, parent = 0; // 0: none. Real ones of traces have 128 bits.
    std::string name{};
};

/// Spans under way, and the one in which the program is.
class tracer {
public:
    std::uintptr_t begin(std::string name) {
        auto const id = random_() | 1;
        spans_[id] = {current.trace != 0 ? current.trace : random_() | 1, id, current.id, std::move(name)};
        return id;
    }
    span end(std::uintptr_t id) { return std::move(spans_.extract(id).mapped()); }

    span current{};

private:
    std::mt19937_64 random_{std::random_device()()};
    std::map<std::uint64_t, span> spans_;
};

/// db.operation.name: of several commands, PIPELINE and the name that they share.
std::string operation_of(redis::call_begin const& call) {
    std::string const name(call.command);
    if (call.commands < 2)
        return name;
    return call.is_same ? "PIPELINE " + name : "PIPELINE";
}

void print(span const& s, redis::call_end const& call) {
    std::printf("%016llx %016llx parent %016llx  %s, %lld us\n", static_cast<unsigned long long>(s.trace),
                static_cast<unsigned long long>(s.id), static_cast<unsigned long long>(s.parent), s.name.c_str(),
                static_cast<long long>(call.duration.count() / 1000));
    std::printf("    db.system.name=redis db.operation.name=\"%s\"", operation_of(call).c_str());
    if (call.commands > 1)
        std::printf(" db.operation.batch.size=%zu", call.commands);
    std::string const status(call.refusal);
    if (!status.empty())
        std::printf(" db.response.status_code=%s", status.c_str());
    if (call.ec)
        std::printf(" error.type=\"%s\"", status.empty() ? call.ec.message().c_str() : status.c_str());
    std::printf("\n");
}

/// One of the program's own units of work, in whose span the calls are.
awaitable<void> count_visit(redis::client& db, tracer& t) {
    t.current = {0x5eed, 0x1, 0, "GET /visits"}; // as the caller's traceparent said
    redis::request visit;
    visit.push("INCR", "visits");
    visit.push("EXPIRE", "visits", 60);
    co_await db.async_exec(visit, redis::ignore);
    co_await db.get("visits");

    redis::request wrong;
    wrong.push("LPUSH", "visits", "somebody"); // a number is no list
    co_await db.async_exec(wrong, redis::ignore, as_tuple);
}

int main(int argc, char** argv) {
    io_context ctx(1);
    std::optional<redis::server> embedded;
    if (argc < 2)
        embedded.emplace(ctx);
    std::string const address = argc < 2 ? embedded->address() : argv[1];

    tracer t;
    redis::client_options options;
    options.before_call = [&t](redis::call_begin const& call) { return t.begin(operation_of(call)); };
    options.after_call = [&t](redis::call_end const& call, std::uintptr_t id) {
        if (id != 0) // Else there was no memory for it.
            print(t.end(id), call);
    };
    redis::client db(ctx, {.address = address}, std::move(options));
    db.async_run([&](error_code) {
        if (embedded)
            embedded->stop();
    });
    int status = 0;
    co_spawn(ctx, count_visit(db, t), [&](std::exception_ptr failure) {
        db.cancel();
        status = failure ? 1 : 0;
    });
    ctx.run();
    return status;
}
