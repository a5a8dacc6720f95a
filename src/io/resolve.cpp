#include <io/resolve.hpp>

#include <fairlead/io/localhost.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <new>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
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

/// Whether it is an address for which "localhost" stands.
bool is_of_localhost(void const* address) noexcept {
    sa_family_t family;
    std::memcpy(&family, static_cast<char const*>(address) + offsetof(sockaddr, sa_family), sizeof family);
    if (family == AF_INET) {
        sockaddr_in v4;
        std::memcpy(&v4, address, sizeof v4);
        return v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK);
    }
    if (family == AF_INET6) {
        sockaddr_in6 v6;
        std::memcpy(&v6, address, sizeof v6);
        return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
    }
    return false;
}

/// Nobody is asked for the name of 127.0.0.1 and ::1, as nobody is for the addresses of localhost.
answer look_up_names(void const* address, int size, int type) noexcept {
    answer a;
    a.name.reset(new (std::nothrow) resolved_name);
    if (!a.name) {
        a.error = ENOMEM;
        return a;
    }
    bool const is_localhost = is_of_localhost(address);
    int const flags = (type == SOCK_DGRAM ? NI_DGRAM : 0) | (is_localhost ? NI_NUMERICHOST : 0);
    auto const ask = [&](int more) {
        return ::getnameinfo(static_cast<sockaddr const*>(address), static_cast<socklen_t>(size), a.name->host,
                             sizeof a.name->host, a.name->service, sizeof a.name->service, flags | more);
    };
    a.failure = ask(0);
    if (a.failure == EAI_OVERFLOW || a.failure == EAI_NONAME) // A service whose name is too long has a number.
        a.failure = ask(NI_NUMERICSERV);
    if (a.failure == 0 && is_localhost)
        std::strcpy(a.name->host, "localhost");
    if (a.failure == EAI_SYSTEM) {
        a.failure = 0;
        a.error = errno;
    }
    return a;
}

/// Asks the system, and adds what it says to `a`.
void ask(answer& a, char const* host, char const* service, int family, int type, int protocol, int flags) noexcept {
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = type;
    hints.ai_protocol = protocol;
    hints.ai_flags = flags;
    addrinfo* list = nullptr;
    auto const asked = [](char const* text) { return text && *text ? text : nullptr; };
    a.failure = ::getaddrinfo(asked(host), asked(service), &hints, &list);
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
}

/// Whether this computer can send to ::1. A kernel without IPv6 cannot, nor one where it is switched off.
bool reaches_loopback_v6() noexcept {
    int const fd = ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    to.sin6_addr = in6addr_loopback;
    to.sin6_port = htons(9);
    bool const reached = ::connect(fd, reinterpret_cast<sockaddr const*>(&to), sizeof to) == 0;
    ::close(fd);
    return reached;
}

/// The addresses that can be reached come first, as with every other name. Each is asked for as a number: for several
/// at once glibc takes a lock, which a fork could leave taken in the child.
answer look_up_localhost(char const* service, int family, int type, int protocol, int flags) noexcept {
    answer a;
    flags = (flags & ~AI_PASSIVE) | AI_NUMERICHOST;
    bool const v6_first = family != AF_INET && reaches_loopback_v6();
    for (bool const v6 : {v6_first, !v6_first}) {
        if (family == (v6 ? AF_INET : AF_INET6))
            continue;
        ask(a, v6 ? "::1" : "127.0.0.1", service, family, type, protocol, flags);
        if (a.error)
            return a;
    }
    if (!a.found.empty())
        a.failure = 0; // One of the two was excluded by a flag.
    return a;
}

answer look_up(char const* host, char const* service, int family, int type, int protocol, int flags) noexcept {
    if (host && is_localhost(host) && !(flags & AI_NUMERICHOST))
        return look_up_localhost(service, family, type, protocol, flags);
    answer a;
    ask(a, host, service, family, type, protocol, flags);
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
struct query {
    query* next;
    resolve_op* o; // null: nobody waits any more
    loop* l;
    int family, type, protocol, flags;
    bool reverse;
    char host[256]; // reverse: the bytes of the address
    char service[256];

    void fill(resolve_op& of, loop& where) noexcept {
        FAIRLEAD_ASSERT(fits(of)); // as resolvers ask
        o = &of;
        l = &where;
        family = of.family;
        type = of.type;
        protocol = of.protocol;
        flags = of.flags;
        reverse = of.reverse;
        std::memcpy(host, of.host, reverse ? static_cast<std::size_t>(protocol) : std::strlen(of.host) + 1);
        char const* const asked = of.service ? of.service : "";
        std::memcpy(service, asked, std::strlen(asked) + 1);
    }
    static bool fits(resolve_op const& of) noexcept {
        return of.reverse
                   ? static_cast<std::size_t>(of.protocol) <= sizeof host
                   : std::strlen(of.host) < sizeof host && (!of.service || std::strlen(of.service) < sizeof service);
    }
    answer look_up() const noexcept {
        if (reverse)
            return look_up_names(host, protocol, type);
        return io::look_up(host, service, family, type, protocol, flags);
    }
};

/// At most four threads for the whole process, started when needed; they end with it.
struct pool {
    static constexpr int threads_max = 4;
    static constexpr std::size_t own_count = 32; // look-ups at a time that take no memory
    std::mutex mutex;
    std::condition_variable more;
    query* first = nullptr;
    query** last = &first;
    query own[own_count];
    query* spare = nullptr; // those of its own that nobody uses
    int threads = 0;
    int idle = 0;
    int waiting = 0; // look-ups that no thread has taken yet

    pool() noexcept {
        for (auto& q : own)
            give_back(q);
    }
    /// Null: no memory.
    query* take() noexcept {
        if (query* const q = spare) {
            spare = q->next;
            return q;
        }
        return new (std::nothrow) query;
    }
    void give_back(query& q) noexcept {
        if (std::less<>()(&q, own) || !std::less<>()(&q, own + own_count)) {
            delete &q;
            return;
        }
        q.next = spare;
        spare = &q;
    }
    void push(query& q) noexcept {
        q.next = nullptr;
        *last = &q;
        last = &q.next;
        ++waiting;
    }
    query& pop() noexcept {
        query& q = *first;
        first = q.next;
        if (!first)
            last = &first;
        --waiting;
        return q;
    }
    /// One more if each that is idle has its look-up already. Returns an error if there is none at all.
    int need_thread() noexcept {
        if (idle > waiting || threads == threads_max)
            return 0;
        // Not std::thread, which keeps a block of global new for as long as its thread runs.
        pthread_t id;
        int const e = ::pthread_create(&id, nullptr, &work_in, this);
        if (e == 0) {
            ::pthread_detach(id);
            ++threads;
        }
        return threads == 0 ? e : 0; // Fewer threads than wished will do.
    }

    /// In the child of a fork, with the mutex locked by the thread that forked.
    void start_over() noexcept {
        while (first)
            give_back(pop());                                      // Each driver asks again for what it waits for.
        ::new (static_cast<void*>(&more)) std::condition_variable; // its waiters are gone, and can never be waited for
        threads = idle = 0;
        mutex.unlock();
    }

    static void* work_in(void* p) noexcept {
        static_cast<pool*>(p)->work();
        return nullptr;
    }
    void work() noexcept {
        std::unique_lock lock(mutex);
        for (;;) {
            ++idle;
            more.wait(lock, [&] { return first != nullptr; });
            --idle;
            query& q = pop();
            if (q.o) {
                lock.unlock();
                answer a = q.look_up();
                lock.lock();
                if (q.o) // else given up meanwhile
                    finish(q, a);
            }
            give_back(q);
        }
    }

private:
    /// Under the lock: whoever gives up, or destroys the loop, waits until the op is in the inbox.
    static void finish(query& q, answer& a) noexcept {
        resolve_op& o = *std::exchange(q.o, nullptr);
        deliver(o, a);
        o.query = nullptr;
        op_queue::unlink(o);
        q.l->drop_in(o);
        q.l->work_finished();
    }
};

/// Stands for the query of an op that was cancelled before it was started: a slot may be asked by another thread
/// meanwhile.
query given_up_storage;
void* const given_up = &given_up_storage;

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
    // Numbers need no thread, and what is found takes no memory before somebody takes it.
    o.late = !o.reverse && (o.flags & AI_NUMERICHOST || !o.host || !*o.host);
    if (o.late) {
        l.post(o);
        return;
    }
    auto& p = the_pool();
    int error = 0;
    {
        std::lock_guard lock(p.mutex);
        bool const unwanted = std::exchange(o.query, nullptr) == given_up;
        query* const q = p.take();
        error = unwanted ? ECANCELED : q ? p.need_thread() : ENOMEM;
        if (error == 0) {
            q->fill(o, l);
            p.push(*q);
            o.query = q;
            l.work_started();
            pending_.push_back(o);
            p.more.notify_one();
            return;
        }
        if (q)
            p.give_back(*q);
    }
    o.result.error = error;
    l.post(o);
}

void resolving::cancel(resolve_op& o) noexcept {
    auto& p = the_pool();
    std::lock_guard lock(p.mutex);
    if (o.query == nullptr || o.query == given_up) {
        o.query = given_up; // not started yet, or already on its way to the loop, which does not look here
        return;
    }
    auto* const q = static_cast<query*>(std::exchange(o.query, nullptr));
    q->o = nullptr;
    op_queue::unlink(o);
    o.result.error = ECANCELED;
    q->l->drop_in(o); // Under the lock: as when it has been looked up.
    q->l->work_finished();
}

void resolving::take_pending(op_queue& into) noexcept {
    auto& p = the_pool();
    std::lock_guard lock(p.mutex);
    while (!pending_.empty()) {
        auto& o = static_cast<resolve_op&>(*pending_.pop_front());
        auto* const q = static_cast<query*>(std::exchange(o.query, nullptr));
        q->l->work_finished();
        q->o = nullptr;
        into.push_back(o);
    }
}

} // namespace fairlead::io
