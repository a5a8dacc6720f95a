// hiredis: redis_hiredis async|pipeline and then as workload.hpp says.
//
//   async     its asynchronous interface with callbacks, on an epoll loop for its one socket
//   pipeline  its synchronous interface: as many requests as there are callers are written, then their replies read;
//             so are streams
#include "hiredis_loop.hpp"
#include "workload.hpp"

#include <vector>

namespace {

using workload::append;
using workload::connected;
using workload::insist;
using workload::loop;
using workload::send;

struct caller {
    redisAsyncContext& context;
    std::string key;
    long left;
    long& callers_left;
    bool& goes_on;
    bool gets = false;

    void next() {
        if (left-- == 0) {
            goes_on = --callers_left != 0;
            return;
        }
        if (gets)
            send(context, on_reply, this, {"GET", key});
        else
            send(context, on_reply, this, {"SET", key, workload::value});
    }
    static void on_reply(redisAsyncContext*, void* reply, void* self) {
        if (!reply)
            return; // The connection was closed, at the end.
        auto& c = *static_cast<caller*>(self);
        auto const& r = *static_cast<redisReply*>(reply);
        insist(c.gets ? std::string_view(r.str, r.len) == workload::value : r.type == REDIS_REPLY_STATUS,
               "another reply than expected");
        c.gets = !c.gets;
        c.next();
    }
};

void call(workload::settings const& s) {
    auto* const context = redisAsyncConnect(s.host.c_str(), std::atoi(s.port.c_str()));
    connected(&context->c);
    loop l(*context);
    long callers_left = s.callers;
    bool goes_on = true;
    std::vector<caller> callers;
    for (long i = 0; i != s.callers; ++i)
        callers.push_back({*context, workload::key_of(i), s.share(i), callers_left, goes_on});
    for (auto& c : callers)
        c.next();
    l.run(goes_on);
    redisAsyncFree(context);
}

void pipeline(workload::settings const& s) {
    auto* const context = redisConnect(s.host.c_str(), std::atoi(s.port.c_str()));
    connected(context);
    std::vector<std::string> keys;
    for (long i = 0; i != s.callers; ++i)
        keys.push_back(workload::key_of(i));
    bool gets = false;
    for (long left = s.n; left > 0; left -= s.callers, gets = !gets) {
        for (auto const& key : keys) {
            if (gets)
                append(*context, {"GET", key});
            else
                append(*context, {"SET", key, workload::value});
        }
        for (long i = 0; i != s.callers; ++i) {
            void* reply;
            insist(redisGetReply(context, &reply) == REDIS_OK, "the connection was lost");
            auto const& r = *static_cast<redisReply*>(reply);
            insist(gets ? std::string_view(r.str, r.len) == workload::value : r.type == REDIS_REPLY_STATUS,
                   "another reply than expected");
            freeReplyObject(reply);
        }
    }
    redisFree(context);
}

// ---- streams

/// Freed at the end.
struct reply {
    redisReply* r;
    explicit reply(redisContext& c) {
        insist(redisGetReply(&c, reinterpret_cast<void**>(&r)) == REDIS_OK && r->type != REDIS_REPLY_ERROR,
               "a command was refused");
    }
    ~reply() { freeReplyObject(r); }
    redisReply& operator[](std::size_t i) const { return *r->element[i]; }
};

void add(workload::settings const& s) {
    auto* const context = redisConnect(s.host.c_str(), std::atoi(s.port.c_str()));
    connected(context);
    append(*context, {"DEL", workload::stream});
    reply const deleted(*context);
    for (long left = s.n; left > 0; left -= workload::entries_at_once) {
        for (long i = 0; i != workload::entries_at_once; ++i)
            append(*context, {"XADD", workload::stream, "*", workload::field, workload::value});
        for (long i = 0; i != workload::entries_at_once; ++i)
            insist(reply(*context).r->type == REDIS_REPLY_STRING, "another reply than expected");
    }
    redisFree(context);
}

void consume(workload::settings const& s) {
    auto* const context = redisConnect(s.host.c_str(), std::atoi(s.port.c_str()));
    connected(context);
    append(*context, {"DEL", workload::stream});
    append(*context, {"XGROUP", "CREATE", workload::stream, workload::group, "0", "MKSTREAM"});
    reply const deleted(*context), made(*context);
    for (long i = 0; i != s.scripts(); ++i) {
        append(*context, {"EVAL", workload::script_that_adds, "0", workload::value});
        reply const added(*context);
        for (long left = workload::messages_at_once; left > 0;) {
            append(*context, {"XREADGROUP", "GROUP", workload::group, workload::consumer, "COUNT", "100", "STREAMS",
                              workload::stream, ">"});
            reply const found(*context);
            auto const& entries = found[0].element[1];
            std::vector<char const*> words{"XACK", workload::stream, workload::group};
            for (std::size_t k = 0; k != entries->elements; ++k) {
                auto const& entry = *entries->element[k];
                insist(entry.element[1]->element[1]->len == workload::value.size(), "another entry than expected");
                words.push_back(entry.element[0]->str);
            }
            left -= static_cast<long>(entries->elements);
            redisAppendCommandArgv(context, static_cast<int>(words.size()), words.data(), nullptr);
            insist(reply(*context).r->integer == static_cast<long long>(entries->elements), "not all was pending");
        }
    }
    redisFree(context);
}

/// RESP2 knows no pushes beside replies: another connection runs the scripts.
struct subscriber {
    workload::settings const& s;
    redisContext& scripts;
    long channels_left;
    long left;
    long scripts_left;
    bool goes_on = true;

    void run_script() {
        --scripts_left;
        freeReplyObject(redisCommand(&scripts, "EVAL %s 0 %b %d", s.script_for_all(), workload::value.data(),
                                     workload::value.size(), static_cast<int>(s.callers)));
    }
    static void on_message(redisAsyncContext*, void* reply, void* self) {
        if (!reply)
            return;
        auto& s = *static_cast<subscriber*>(self);
        auto const& r = *static_cast<redisReply*>(reply);
        if (r.element[0]->len == std::strlen("subscribe")) {
            if (--s.channels_left == 0)
                s.run_script();
            return;
        }
        insist(r.element[2]->len == workload::value.size(), "another message than expected");
        if (--s.left == 0)
            s.goes_on = false;
        else if (s.left % workload::messages_at_once == 0)
            s.run_script();
    }
};

void receive(workload::settings const& s) {
    auto* const scripts = redisConnect(s.host.c_str(), std::atoi(s.port.c_str()));
    connected(scripts);
    auto* const context = redisAsyncConnect(s.host.c_str(), std::atoi(s.port.c_str()));
    connected(&context->c);
    loop l(*context);
    subscriber sub{s, *scripts, s.callers, s.messages(), s.scripts()};
    for (auto const& each : s.channels())
        send(*context, subscriber::on_message, &sub, {"SUBSCRIBE", each});
    l.run(sub.goes_on);
    redisFree(scripts);
    redisAsyncFree(context);
}

} // namespace

int main(int argc, char** argv) {
    insist(argc == 6, "an interface is missing");
    workload::settings const s(argc - 1, argv + 1);
    if (s.is_publish())
        return workload::skipped; // no RESP3
    if (s.is_pushes())
        receive(s);
    else if (s.is_add())
        add(s);
    else if (s.is_consume())
        consume(s);
    else if (!s.is_calls())
        return workload::skipped;
    else if (std::strcmp(argv[1], "async") == 0)
        call(s);
    else
        pipeline(s);
}
