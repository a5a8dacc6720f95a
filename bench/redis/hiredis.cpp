// hiredis: redis_hiredis async|pipeline and then as workload.hpp says.
//
//   async     its asynchronous interface with callbacks, on an epoll loop for its one socket
//   pipeline  its synchronous interface: as many requests as there are callers are written, then their replies read
#include "workload.hpp"

#include <hiredis/async.h>
#include <hiredis/hiredis.h>

#include <sys/epoll.h>
#include <unistd.h>
#include <vector>

namespace {

using workload::insist;

/// A loop for one socket. hiredis asks for writing after each command: then it is tried before the loop sleeps.
class loop {
public:
    explicit loop(redisAsyncContext& c) : context_(c), set_(epoll_create1(EPOLL_CLOEXEC)) {
        epoll_event e{};
        e.events = EPOLLIN;
        epoll_ctl(set_, EPOLL_CTL_ADD, c.c.fd, &e);
        c.ev.data = this;
        c.ev.addRead = c.ev.delRead = c.ev.delWrite = c.ev.cleanup = [](void*) {};
        c.ev.addWrite = [](void* self) { static_cast<loop*>(self)->wants_to_write_ = true; };
        wants_to_write_ = true; // It is connecting.
    }
    ~loop() { close(set_); }

    void run(bool const& goes_on) {
        for (; goes_on;) {
            if (wants_to_write_) {
                wants_to_write_ = false;
                redisAsyncHandleWrite(&context_);
            }
            epoll_event e;
            if (epoll_wait(set_, &e, 1, -1) == 1)
                redisAsyncHandleRead(&context_);
        }
    }

private:
    redisAsyncContext& context_;
    int set_;
    bool wants_to_write_ = false;
};

void send(redisAsyncContext& c, redisCallbackFn* fn, void* data, std::initializer_list<std::string_view> words) {
    char const* texts[8];
    std::size_t sizes[8];
    int n = 0;
    for (auto const w : words) {
        texts[n] = w.data();
        sizes[n++] = w.size();
    }
    insist(redisAsyncCommandArgv(&c, fn, data, n, texts, sizes) == REDIS_OK, "a command was refused");
}

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

void connected(redisContext const* c) { insist(c && !c->err, "no connection"); }

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

void append(redisContext& c, std::initializer_list<std::string_view> words) {
    char const* texts[8];
    std::size_t sizes[8];
    int n = 0;
    for (auto const w : words) {
        texts[n] = w.data();
        sizes[n++] = w.size();
    }
    redisAppendCommandArgv(&c, n, texts, sizes);
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

/// RESP2 knows no pushes beside replies: another connection runs the scripts.
struct subscriber {
    redisContext& scripts;
    long left;
    long scripts_left;
    bool goes_on = true;

    void run_script() {
        --scripts_left;
        freeReplyObject(
            redisCommand(&scripts, "EVAL %s 0 %b", workload::script, workload::value.data(), workload::value.size()));
    }
    static void on_message(redisAsyncContext*, void* reply, void* self) {
        if (!reply)
            return;
        auto& s = *static_cast<subscriber*>(self);
        auto const& r = *static_cast<redisReply*>(reply);
        if (r.element[0]->len == std::strlen("subscribe"))
            return s.run_script();
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
    subscriber sub{*scripts, s.messages(), s.scripts()};
    send(*context, subscriber::on_message, &sub, {"SUBSCRIBE", workload::channel});
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
    else if (std::strcmp(argv[1], "async") == 0)
        call(s);
    else
        pipeline(s);
}
