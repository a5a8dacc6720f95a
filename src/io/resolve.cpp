#include <io/resolve.hpp>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::io {
namespace {

struct answer {
    int failure = 0;
    int error = 0;
    std::vector<resolved_address> found;
};

answer look_up(char const* host, char const* service, int family, int type, int protocol, int flags) {
    answer a;
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = type;
    hints.ai_protocol = protocol;
    hints.ai_flags = flags;
    addrinfo* list = nullptr;
    a.failure = ::getaddrinfo(host && *host ? host : nullptr, service && *service ? service : "0", &hints, &list);
    if (a.failure == EAI_SYSTEM) {
        a.failure = 0;
        a.error = errno;
    }
    for (addrinfo* i = list; i; i = i->ai_next) {
        if (i->ai_addrlen > sizeof(resolved_address::bytes))
            continue;
        resolved_address r{};
        std::memcpy(r.bytes, i->ai_addr, i->ai_addrlen);
        r.size = static_cast<std::uint32_t>(i->ai_addrlen);
        a.found.push_back(r);
    }
    if (list)
        ::freeaddrinfo(list);
    return a;
}

void deliver(resolve_op& o, answer const& a) noexcept {
    o.failure = a.failure;
    o.result.error = a.error;
    o.found = nullptr;
    o.found_count = 0;
    if (a.failure || a.error || a.found.empty())
        return;
    o.found = new (std::nothrow) resolved_address[a.found.size()];
    if (!o.found) {
        o.result.error = ENOMEM;
        return;
    }
    o.found_count = a.found.size();
    std::memcpy(o.found, a.found.data(), a.found.size() * sizeof(resolved_address));
}

/// A look-up with its own copy of the question, because the one who asked may give up while the thread is busy.
struct ticket {
    resolve_op* o; // null: nobody waits any more
    loop* l;
    std::string host, service;
    int family, type, protocol, flags;
};

/// At most four threads for the whole process, started when needed; they end with it.
struct pool {
    static constexpr int threads_max = 4;
    std::mutex mutex;
    std::condition_variable more;
    std::deque<std::shared_ptr<ticket>> queue;
    int threads = 0;
    int idle = 0;

    void work() {
        std::unique_lock lock(mutex);
        for (;;) {
            ++idle;
            more.wait(lock, [&] { return !queue.empty(); });
            --idle;
            auto t = std::move(queue.front());
            queue.pop_front();
            if (!t->o)
                continue;
            lock.unlock();
            answer const a = look_up(t->host.c_str(), t->service.c_str(), t->family, t->type, t->protocol, t->flags);
            lock.lock();
            if (!t->o)
                continue; // given up meanwhile
            // Under the lock: whoever gives up, or destroys the loop, waits until the op is in the inbox.
            deliver(*t->o, a);
            delete static_cast<std::shared_ptr<ticket>*>(t->o->ticket);
            t->o->ticket = nullptr;
            op_queue::unlink(*t->o);
            loop* l = t->l;
            l->post(*std::exchange(t->o, nullptr));
            l->work_finished();
        }
    }
};

pool& the_pool() {
    static pool* const p = new pool; // Never destroyed: its threads may outlive main().
    return *p;
}

} // namespace

resolving::resolving() = default;
resolving::~resolving() = default;

void resolving::perform(resolve_op& o) noexcept {
    try {
        deliver(o, look_up(o.host, o.service, o.family, o.type, o.protocol, o.flags));
    } catch (std::bad_alloc const&) {
        o.failure = 0;
        o.result.error = ENOMEM;
    }
}

void resolving::start(loop& l, resolve_op& o) noexcept {
    o.result = {};
    o.failure = 0;
    o.found = nullptr;
    o.found_count = 0;
    o.ticket = nullptr;
    // Numbers need no thread.
    if (o.flags & AI_NUMERICHOST || !o.host || !*o.host) {
        perform(o);
        l.post(o);
        return;
    }
    auto& p = the_pool();
    try {
        auto t = std::make_shared<ticket>(
            ticket{&o, &l, o.host, o.service ? o.service : "", o.family, o.type, o.protocol, o.flags});
        auto own = std::make_unique<std::shared_ptr<ticket>>(t);
        std::lock_guard lock(p.mutex);
        p.queue.push_back(t);
        if (p.idle == 0 && p.threads < pool::threads_max) {
            try {
                std::thread([&p] { p.work(); }).detach();
                ++p.threads;
            } catch (...) {
                // Fewer threads than wished will do, none will not.
                if (p.threads == 0) {
                    p.queue.pop_back();
                    throw;
                }
            }
        }
        o.ticket = own.release();
        l.work_started();
        pending_.push_back(o);
        p.more.notify_one();
    } catch (std::system_error const& e) {
        o.result.error = e.code().value();
        l.post(o);
    } catch (...) {
        o.result.error = ENOMEM;
        l.post(o);
    }
}

void resolving::cancel(resolve_op& o) noexcept {
    auto& p = the_pool();
    std::lock_guard lock(p.mutex);
    if (!o.ticket)
        return;
    auto* own = static_cast<std::shared_ptr<ticket>*>(o.ticket);
    if (!(*own)->o)
        return; // already on its way to the loop
    loop* l = (*own)->l;
    (*own)->o = nullptr;
    delete own;
    o.ticket = nullptr;
    op_queue::unlink(o);
    o.result.error = ECANCELED;
    l->post(o);
    l->work_finished();
}

void resolving::take_pending(op_queue& into) noexcept {
    auto& p = the_pool();
    std::lock_guard lock(p.mutex);
    while (!pending_.empty()) {
        auto& o = static_cast<resolve_op&>(*pending_.pop_front());
        auto* own = static_cast<std::shared_ptr<ticket>*>(o.ticket);
        (*own)->l->work_finished();
        (*own)->o = nullptr;
        delete own;
        o.ticket = nullptr;
        into.push_back(o);
    }
}

} // namespace fairlead::io
