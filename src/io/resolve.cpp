#include <io/resolve.hpp>

#include <condition_variable>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <new>
#include <pthread.h>
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
    std::unique_ptr<resolved_name> name;
};

answer look_up_names(void const* address, int size, int type) noexcept {
    answer a;
    a.name.reset(new (std::nothrow) resolved_name);
    if (!a.name) {
        a.error = ENOMEM;
        return a;
    }
    int const flags = type == SOCK_DGRAM ? NI_DGRAM : 0;
    auto const ask = [&](int more) {
        return ::getnameinfo(static_cast<sockaddr const*>(address), static_cast<socklen_t>(size), a.name->host,
                             sizeof a.name->host, a.name->service, sizeof a.name->service, flags | more);
    };
    a.failure = ask(0);
    if (a.failure == EAI_OVERFLOW || a.failure == EAI_NONAME) // A service whose name is too long has a number.
        a.failure = ask(NI_NUMERICSERV);
    if (a.failure == EAI_SYSTEM) {
        a.failure = 0;
        a.error = errno;
    }
    return a;
}

answer look_up(char const* host, char const* service, int family, int type, int protocol, int flags) noexcept {
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
    try {
        for (addrinfo* i = list; i; i = i->ai_next) {
            if (i->ai_addrlen > sizeof(resolved_address::bytes))
                continue;
            resolved_address r{};
            std::memcpy(r.bytes, i->ai_addr, i->ai_addrlen);
            r.size = static_cast<std::uint32_t>(i->ai_addrlen);
            a.found.push_back(r);
        }
    } catch (std::bad_alloc const&) {
        a.error = ENOMEM; // An exception would end the thread of the pool, and the process with it.
    }
    if (list)
        ::freeaddrinfo(list);
    return a;
}

void deliver(resolve_op& o, answer& a) noexcept {
    o.failure = a.failure;
    o.result.error = a.error;
    o.found = nullptr;
    o.found_count = 0;
    if (o.reverse) {
        if (!a.failure && !a.error) {
            o.name = a.name.release(); // The receiver's now.
            o.found_count = 1;
        }
        return;
    }
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
    bool reverse;

    answer look_up() const noexcept {
        if (reverse)
            return look_up_names(host.data(), protocol, type);
        return io::look_up(host.c_str(), service.c_str(), family, type, protocol, flags);
    }
};

/// At most four threads for the whole process, started when needed; they end with it.
struct pool {
    static constexpr int threads_max = 4;
    std::mutex mutex;
    std::condition_variable more;
    std::list<std::shared_ptr<ticket>> queue; // takes no memory while it is empty
    int threads = 0;
    int idle = 0;

    /// In the child of a fork, with the mutex locked by the thread that forked.
    void start_over() noexcept {
        queue.clear();                                             // Each driver asks again for what it waits for.
        ::new (static_cast<void*>(&more)) std::condition_variable; // its waiters are gone, and can never be waited for
        threads = idle = 0;
        mutex.unlock();
    }

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
            answer a = t->look_up();
            lock.lock();
            if (!t->o)
                continue; // given up meanwhile
            // Under the lock: whoever gives up, or destroys the loop, waits until the op is in the inbox.
            deliver(*t->o, a);
            delete static_cast<std::shared_ptr<ticket>*>(t->o->ticket);
            t->o->ticket = nullptr;
            op_queue::unlink(*t->o);
            loop* l = t->l;
            l->drop_in(*std::exchange(t->o, nullptr));
            l->work_finished();
        }
    }
};

/// Needs no memory: a context that is destroyed asks for it too, perhaps as the first one.
pool& the_pool() noexcept {
    alignas(pool) static std::byte place[sizeof(pool)];
    // Never destroyed: its threads may outlive main(). The child of a fork has none of them, whoever forks and why.
    static pool* const p = [] {
        auto* const made = ::new (place) pool;
        ::pthread_atfork([] { the_pool().mutex.lock(); }, [] { the_pool().mutex.unlock(); },
                         [] { the_pool().start_over(); });
        return made;
    }();
    return *p;
}

} // namespace

resolving::resolving() = default;
resolving::~resolving() = default;

void resolving::perform(resolve_op& o) noexcept {
    answer a = o.reverse ? look_up_names(o.host, o.protocol, o.type)
                         : look_up(o.host, o.service, o.family, o.type, o.protocol, o.flags);
    deliver(o, a);
}

void resolving::start_over(loop& l) noexcept {
    op_queue mine;
    take_pending(mine);
    while (!mine.empty())
        start(l, static_cast<resolve_op&>(*mine.pop_front()));
}

void resolving::start(loop& l, resolve_op& o) noexcept {
    o.result = {};
    o.failure = 0;
    o.found = nullptr;
    o.found_count = 0;
    o.ticket = nullptr;
    // Numbers need no thread.
    if (!o.reverse && (o.flags & AI_NUMERICHOST || !o.host || !*o.host)) {
        perform(o);
        l.post(o);
        return;
    }
    auto& p = the_pool();
    try {
        auto t = std::make_shared<ticket>(
            ticket{&o, &l, o.reverse ? std::string(o.host, static_cast<std::size_t>(o.protocol)) : std::string(o.host),
                   o.service ? o.service : "", o.family, o.type, o.protocol, o.flags, o.reverse});
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
