#include <fairlead/exec/execution_context.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace fairlead {

/// Of one context, made with its first service. The youngest service stands first.
struct impl::exec::service_registry : impl::exec::in_context_memory {
    using service = execution_context::service;

    std::mutex mutex;
    service* youngest = nullptr;

    service* find(impl::exec::service_kind kind) const noexcept {
        for (service* s = youngest; s; s = s->older_)
            if (kind.id ? s->id_ == kind.id : s->type_ && *s->type_ == *kind.type)
                return s;
        return nullptr;
    }
    void insert(service& s, impl::exec::service_kind kind) noexcept {
        s.id_ = kind.id;
        s.type_ = kind.type;
        s.older_ = youngest;
        youngest = &s;
    }

    static impl::exec::service_registry* of(std::atomic<impl::exec::service_registry*> const& place) noexcept {
        return place.load(std::memory_order_acquire);
    }
    static impl::exec::service_registry& made_in(std::atomic<impl::exec::service_registry*>& place,
                                                 impl::exec::context_memory_ref const& memory) {
        if (auto* const there = of(place))
            return *there;
        auto made = std::unique_ptr<impl::exec::service_registry>(new (memory) impl::exec::service_registry);
        impl::exec::service_registry* expected = nullptr;
        if (place.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
            return *made.release(); // The context's now.
        return *expected;
    }
};

service_already_exists::service_already_exists() : std::logic_error("the context has a service of this kind already") {}
service_already_exists::~service_already_exists() = default;
invalid_service_owner::invalid_service_owner() : std::logic_error("the service was made for another context") {}
invalid_service_owner::~invalid_service_owner() = default;

execution_context::service::~service() = default;
void execution_context::service::notify_fork(fork_event) {}
execution_context::service_maker::~service_maker() = default;

namespace {

struct destroyer {
    void operator()(execution_context::service* s) const noexcept { impl::exec::service_access::destroy(s); }
};
using owner = std::unique_ptr<execution_context::service, destroyer>;

} // namespace

void impl::exec::service_access::destroy(service* s) noexcept {
    if (s->destroy_)
        s->destroy_(s);
    else
        delete s;
}

execution_context::service& impl::exec::service_access::use(execution_context& c, impl::exec::service_kind kind,
                                                            factory make) {
    auto& registry = impl::exec::service_registry::made_in(c.services_, c.memory_);
    {
        std::lock_guard const lock(registry.mutex);
        if (service* const found = registry.find(kind))
            return *found;
    }
    // Without the lock: its constructor may use other services.
    owner made(make(c));
    std::lock_guard const lock(registry.mutex);
    if (service* const found = registry.find(kind)) // another thread was faster
        return *found;
    registry.insert(*made, kind);
    return *made.release();
}

bool impl::exec::service_access::has(execution_context& c, impl::exec::service_kind kind) noexcept {
    auto* const registry = impl::exec::service_registry::of(c.services_);
    if (!registry)
        return false;
    std::lock_guard const lock(registry->mutex);
    return registry->find(kind) != nullptr;
}

void impl::exec::service_access::add(execution_context& c, impl::exec::service_kind kind, service* s) {
    if (&s->owner_ != &c)
        throw invalid_service_owner();
    auto& registry = impl::exec::service_registry::made_in(c.services_, c.memory_);
    std::lock_guard const lock(registry.mutex);
    if (registry.find(kind))
        throw service_already_exists();
    registry.insert(*s, kind);
}

void impl::exec::service_access::add_made(execution_context& c, impl::exec::service_kind kind, service* s) {
    owner made(s);
    add(c, kind, s);
    static_cast<void>(made.release()); // The context's now.
}

execution_context::execution_context(service_maker const& initial) : execution_context() { initial.make(*this); }

execution_context::~execution_context() {
    shutdown();
    destroy();
}

void execution_context::shutdown() noexcept {
    auto* const registry = impl::exec::service_registry::of(services_);
    if (!registry)
        return;
    // A service that is shut down may use others, even ones that are made only then.
    for (;;) {
        service* next = nullptr;
        {
            std::lock_guard const lock(registry->mutex);
            for (next = registry->youngest; next && next->shut_down_;)
                next = next->older_;
            if (next)
                next->shut_down_ = true;
        }
        if (!next)
            return;
        next->shutdown();
    }
}

void execution_context::destroy() noexcept {
    auto* const registry = impl::exec::service_registry::of(services_);
    if (!registry)
        return;
    for (;;) {
        shutdown();
        service* next = nullptr;
        {
            std::lock_guard const lock(registry->mutex);
            next = registry->youngest;
            if (next)
                registry->youngest = next->older_;
        }
        if (!next)
            break;
        impl::exec::service_access::destroy(next);
    }
    services_.store(nullptr, std::memory_order_relaxed);
    delete registry;
}

void execution_context::on_fork(fork_event) {}

void execution_context::notify_fork(fork_event event) {
    std::vector<service*> youngest_first;
    if (auto* const registry = impl::exec::service_registry::of(services_)) {
        std::lock_guard const lock(registry->mutex);
        for (service* s = registry->youngest; s; s = s->older_)
            youngest_first.push_back(s);
    }
    if (event == fork_prepare) {
        for (service* const s : youngest_first)
            s->notify_fork(event);
        on_fork(event);
        return;
    }
    on_fork(event);
    for (auto s = youngest_first.rbegin(); s != youngest_first.rend(); ++s)
        (*s)->notify_fork(event);
}

} // namespace fairlead
