// hiredis with small calls beside large ones on one connection, through its asynchronous interface:
// redis_hiredis_large MODE ... as workload.hpp says.
#include "hiredis_loop.hpp"
#include "latencies.hpp"
#include "workload.hpp"

namespace {

using workload::insist;
using workload::send;

struct reader {
    redisAsyncContext& context;
    workload::latencies all;
    std::string text = std::string(workload::small_size, 's');
    bool goes_on = true;

    void read_small() {
        all.begin();
        send(context, on_small, this, {"GET", workload::small_key});
    }
    void read_large() { send(context, on_large, this, {"GET", workload::large_key}); }

    static void on_small(redisAsyncContext*, void* reply, void* self) {
        if (!reply)
            return; // The connection was closed, at the end.
        auto& r = *static_cast<reader*>(self);
        r.all.end();
        insist(static_cast<redisReply*>(reply)->str == r.text, "GET gave another value");
        r.goes_on = !r.all.is_full();
        if (r.goes_on)
            r.read_small();
    }
    static void on_large(redisAsyncContext*, void* reply, void* self) {
        if (!reply)
            return;
        insist(static_cast<redisReply*>(reply)->len == workload::large_size, "GET gave another value");
        static_cast<reader*>(self)->read_large();
    }
};

} // namespace

int main(int argc, char** argv) {
    workload::settings const s(argc, argv);
    if (!s.is_small())
        return workload::skipped;
    auto* const context = redisAsyncConnect(s.host.c_str(), std::atoi(s.port.c_str()));
    workload::connected(&context->c);
    workload::loop l(*context);
    reader r{*context, workload::latencies(s.n)};
    send(*context, nullptr, nullptr, {"SET", workload::small_key, r.text});
    send(*context, nullptr, nullptr, {"SETRANGE", workload::large_key, std::to_string(workload::large_size - 1), "x"});
    for (long i = 0; i != s.callers; ++i)
        r.read_large();
    r.read_small();
    l.run(r.goes_on);
    r.all.print();
    redisAsyncFree(context);
}
