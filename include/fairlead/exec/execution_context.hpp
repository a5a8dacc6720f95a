// The base of everything that can run handlers; and services: objects of which a context has one of each kind.
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/exec/context_memory.hpp>

#include <atomic>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace fairlead {

/// Thrown by make_service() and add_service(): the context has a service of this kind already.
class FAIRLEAD_EXPORT service_already_exists : public std::logic_error {
public:
    service_already_exists();
    ~service_already_exists() override;
};

/// Thrown by add_service(): the service was made for another context.
class FAIRLEAD_EXPORT invalid_service_owner : public std::logic_error {
public:
    invalid_service_owner();
    ~invalid_service_owner() override;
};

namespace impl::exec {
struct service_registry;
struct service_access;
} // namespace impl::exec

/// A context pays one pointer for the services it does not have.
/// Allocates  services and their like with the allocator it was made with; itself with global new. The memory goes back
///            when the context goes or, if I/O objects outlive it, with the last of these
class FAIRLEAD_EXPORT execution_context {
public:
    class id;
    class service;
    class service_maker;
    /// Takes from where the context takes: for services, and what they keep. Lifetime: the context outlives it.
    template <class T> using allocator = impl::exec::context_allocator<T>;

    enum fork_event { fork_prepare, fork_parent, fork_child };

    execution_context() noexcept = default;
    /// With the services that `initial` makes.
    explicit execution_context(service_maker const& initial);
    /// Threads    `a` is called by every thread that makes services, or makes and uses I/O objects
    template <class Allocator> execution_context(std::allocator_arg_t, Allocator const& a)
        : execution_context(impl::exec::memory_from(a)) {}
    template <class Allocator>
    execution_context(std::allocator_arg_t, Allocator const& a, service_maker const& initial);
    execution_context(execution_context const&) = delete;
    execution_context& operator=(execution_context const&) = delete;
    virtual ~execution_context();

    /// To be called before fork() with fork_prepare, and after it with fork_parent or fork_child, for each context that
    /// is to be used on. In the child the context gets resources of the system of its own.
    /// Errors     system_error    the child could not make them; the context cannot be used there
    /// Threads    none may use the context meanwhile; the calling one may be inside its run()
    void notify_fork(fork_event event);

protected:
    explicit execution_context(impl::exec::context_memory_ref memory) noexcept : memory_(std::move(memory)) {}
    /// Shuts down all services that are not yet, the youngest first. Destructors of derived classes call it before
    /// their own part goes, because services may hold handlers and I/O objects.
    void shutdown() noexcept;
    /// Destroys all services in the same order, after shutdown().
    void destroy() noexcept;
    /// The context's own part of notify_fork(): the last to prepare, the first to be told afterwards.
    virtual void on_fork(fork_event event);

private:
    friend struct impl::exec::service_access;
    impl::exec::context_memory_ref memory_;
    std::atomic<impl::exec::service_registry*> services_{nullptr};
};

/// Names a kind of service when it is a static member `id` of the service's class.
class execution_context::id {
public:
    id() noexcept = default;
    id(id const&) = delete;
    id& operator=(id const&) = delete;
};

/// The base of services. A class that derives from it has a constructor (execution_context&, ...). It has a static
/// member `id` of type execution_context::id, or a type `key_type`, or neither. With neither, each class is a kind of
/// its own.
class FAIRLEAD_EXPORT execution_context::service {
public:
    service(service const&) = delete;
    service& operator=(service const&) = delete;
    execution_context& context() noexcept { return owner_; }

protected:
    explicit service(execution_context& owner) noexcept : owner_(owner) {}
    virtual ~service();

private:
    friend class execution_context;
    friend struct impl::exec::service_access;
    friend struct impl::exec::service_registry;
    /// Destroys the handlers and I/O objects that the service holds. Called once, before any service is destroyed.
    virtual void shutdown() = 0;
    virtual void notify_fork(fork_event event);

    execution_context& owner_;
    void const* id_ = nullptr; ///< which id names the kind, or null:
    std::type_info const* type_ = nullptr;
    service* older_ = nullptr;
    void (*destroy_)(service*) = nullptr; ///< null: with delete, for it is one that was added
    bool shut_down_ = false;
};

/// Makes the first services of a context, before anybody else can use it.
class FAIRLEAD_EXPORT execution_context::service_maker {
public:
    service_maker(service_maker const&) = delete;
    service_maker& operator=(service_maker const&) = delete;
    virtual void make(execution_context& context) const = 0;
    virtual ~service_maker();

protected:
    service_maker() noexcept = default;
};

template <class Allocator>
execution_context::execution_context(std::allocator_arg_t, Allocator const& a, service_maker const& initial)
    : execution_context(impl::exec::memory_from(a)) {
    initial.make(*this);
}

namespace impl::exec {

/// The kind of a service.
struct service_kind {
    void const* id;
    std::type_info const* type;
};

template <class Service> service_kind kind_of_service() noexcept {
    static_assert(std::is_base_of_v<execution_context::service, Service>,
                  "a service derives from execution_context::service");
    if constexpr (requires { static_cast<execution_context::id const*>(&Service::id); })
        return {static_cast<execution_context::id const*>(&Service::id), nullptr};
    else if constexpr (requires { typename Service::key_type; })
        return {nullptr, &typeid(typename Service::key_type)};
    else
        return {nullptr, &typeid(Service)};
}

struct FAIRLEAD_EXPORT service_access {
    using service = execution_context::service;
    using factory = service* (*)(execution_context&);

    /// Made in the memory of its context, which `o` is or derives from.
    template <class Service, class Owner, class... Args> static Service* make(Owner& o, Args&&... args) {
        context_allocator<Service> const memory(o);
        Service* const place = memory.allocate(1);
        Service* made;
        try {
            made = ::new (static_cast<void*>(place)) Service(o, std::forward<Args>(args)...);
        } catch (...) {
            memory.deallocate(place, 1);
            throw;
        }
        static_cast<service*>(made)->destroy_ = [](service* s) {
            auto* const whole = static_cast<Service*>(s);
            context_allocator<Service> const from(s->context());
            s->~service();
            from.deallocate(whole, 1);
        };
        return made;
    }
    static context_memory_ref const& memory_of(execution_context const& c) noexcept { return c.memory_; }

    static service& use(execution_context& c, service_kind kind, factory make);
    static bool has(execution_context& c, service_kind kind) noexcept;
    /// Takes `s` over unless it throws.
    static void add(execution_context& c, service_kind kind, service* s);
    /// As add(), for a service that make() made. It is destroyed when this throws.
    static void add_made(execution_context& c, service_kind kind, service* s);
    static void destroy(service* s) noexcept;
};

template <class T> context_allocator<T>::context_allocator(execution_context& c) noexcept
    : memory_(service_access::memory_of(c).get()) {}

} // namespace impl::exec

/// The context's service of this kind; made, with the context as its only argument, if there is none yet.
/// Threads    any; two that come first at the same time may each construct one, of which one stays
template <class Service> Service& use_service(execution_context& c) {
    return static_cast<Service&>(impl::exec::service_access::use(
        c, impl::exec::kind_of_service<Service>(), [](execution_context& owner) -> execution_context::service* {
            return impl::exec::service_access::make<Service>(owner);
        }));
}

/// Makes a service with further arguments.
/// Errors     service_already_exists  the context has one of this kind
template <class Service, class... Args> Service& make_service(execution_context& c, Args&&... args) {
    auto* const made = impl::exec::service_access::make<Service>(c, std::forward<Args>(args)...);
    impl::exec::service_access::add_made(c, impl::exec::kind_of_service<Service>(), made);
    return *made;
}

/// Gives a service to the context, which deletes it one day.
/// Errors     service_already_exists, invalid_service_owner    it stays the caller's
template <class Service> void add_service(execution_context& c, Service* s) {
    impl::exec::service_access::add(c, impl::exec::kind_of_service<Service>(), s);
}

/// Whether the context has a service of this kind. It makes none.
template <class Service> bool has_service(execution_context& c) {
    return impl::exec::service_access::has(c, impl::exec::kind_of_service<Service>());
}

} // namespace fairlead
