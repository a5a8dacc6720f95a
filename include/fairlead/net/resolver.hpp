// Names to endpoints.
#pragma once

#include <fairlead/net/host_name.hpp>
#include <fairlead/net/ip.hpp>
#include <fairlead/net/resolver_base.hpp>
#include <fairlead/net/resolver_entry.hpp>
#include <fairlead/net/resolver_results.hpp>
#include <fairlead/net/socket.hpp>

#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead {
namespace impl::net {

/// A look-up's place in its resolver's list, once it is on its way.
struct resolve_request : op_link {
    io::resolve_op* pending = nullptr;
    io_loop* engine = nullptr; ///< whose owner may touch the list of requests
    resolve_request() noexcept { next = prev = nullptr; }
};

/// Host and service as the system takes them. A text that is longer than any name, or has a NUL in it, would be looked
/// up cut short. It is not kept, and there is no such host.
class look_up_names {
public:
    FAIRLEAD_EXPORT look_up_names(std::string_view host, std::string_view service) noexcept;
    look_up_names(look_up_names const& other) noexcept : host_size_(other.host_size_), size_(other.size_) {
        other.copy_to(text_);
    }
    look_up_names& operator=(look_up_names const&) = delete;

    bool acceptable() const noexcept { return size_ != 0; }
    char const* host() const noexcept { return text_; }
    /// Where the service lies behind a host that lies at `host`.
    char const* service_behind(char const* host) const noexcept { return host + host_size_ + 1; }
    std::size_t size() const noexcept { return size_; }
    void copy_to(char* to) const noexcept { std::memcpy(to, text_, size_); }

private:
    static constexpr std::size_t longest = 255;
    std::uint16_t host_size_ = 0;
    std::uint16_t size_ = 0; ///< both, with a NUL behind each; 0: not acceptable
    char text_[2 * (longest + 1)];
};

/// The half of a resolver that no template parameter changes.
class resolver_core {
public:
    explicit resolver_core(io::impl::io_loop_ref const& l) noexcept : engine(l) {
        requests.next = requests.prev = &requests;
    }
    FAIRLEAD_EXPORT resolver_core(resolver_core&& other) noexcept;
    FAIRLEAD_EXPORT resolver_core& operator=(resolver_core&& other) noexcept;
    ~resolver_core() { cancel(); }
    FAIRLEAD_EXPORT void cancel() noexcept;
    /// A look-up that has failed already, in its preparation, completes as it is.
    FAIRLEAD_EXPORT void start(io::resolve_op& o, resolve_request& r) noexcept;
    FAIRLEAD_EXPORT void perform(io::resolve_op& o) noexcept;
    FAIRLEAD_EXPORT static void finish(resolve_request& r) noexcept;

    [[no_unique_address]] io::impl::io_loop_ref engine; ///< its last bytes have space for the flag
    bool was_started = false;                           ///< since the last cancel(): only then can there be requests
    op_link requests;
};

struct resolve_record : io::resolve_op {
    resolve_request* request;
    resolve_record() noexcept {}
};
static_assert(await_record::fits<resolve_record>);

FAIRLEAD_EXPORT error_code resolve_error(io::resolve_op const& o) noexcept;
/// Fills the record for a look-up of names, or of none that are acceptable.
FAIRLEAD_EXPORT void prepare_names(io::resolve_op& o, look_up_names const& names, char const* host) noexcept;

/// For the message of an error.
inline std::string text_of_look_up(std::string_view host, std::string_view service) {
    return "resolve " + std::string(host) + ':' + std::string(service);
}
template <class Endpoint> std::string text_of_look_up(Endpoint const& e) { return text_with("resolve", e); }

template <class Protocol> struct resolve : operation::primitive<resolve<Protocol>> {
    using results = ip::basic_resolver_results<Protocol>;
    using signature = void(error_code, results);
    using record = resolve_record;

    resolver_core* resolver;
    mutable resolve_request request;
    int family;
    int flags;
    look_up_names names;

    resolve(resolver_core& c, std::string_view host, std::string_view service, int fam, int fl) noexcept
        : resolver(&c),
          family(fam),
          flags(fl),
          names(host, service) {}
    loop* home() const noexcept { return resolver->engine; }
    std::string describe() const {
        return names.acceptable() ? text_of_look_up(names.host(), names.service_behind(names.host())) : "resolve";
    }
    void prepare(record& o) const noexcept { set(o, request, names.host()); }
    std::size_t extra_bytes() const noexcept { return sizeof(resolve_request) + names.size(); }
    void prepare(record& o, void* extra) const noexcept {
        auto* const r = ::new (extra) resolve_request;
        auto* const host = reinterpret_cast<char*>(r + 1);
        names.copy_to(host);
        set(o, *r, host);
    }
    void submit(record& o) const noexcept { resolver->start(o, *o.request); }
    static constexpr bool drops = true;
    static void drop(record& o) noexcept {
        resolver_core::finish(*o.request);
        delete[] o.found;
    }
    static std::tuple<error_code, results> take(record& o) noexcept {
        if (o.late)
            o.request->engine->host().resolve_blocking(o);
        auto ec = resolve_error(o);
        results r;
        if (!ec) {
            try {
                r = results(entries(o));
            } catch (std::bad_alloc const&) {
                ec = error::no_memory; // thrown, it would take the record with it
            }
        }
        drop(o);
        return {ec, std::move(r)};
    }
    static std::vector<ip::basic_resolver_entry<Protocol>> entries(record const& o) {
        std::string const host(o.host), service(o.service);
        std::vector<ip::basic_resolver_entry<Protocol>> all;
        all.reserve(o.found_count);
        for (std::size_t i = 0; i != o.found_count; ++i) {
            typename Protocol::endpoint e;
            std::memcpy(e.data(), o.found[i].bytes, o.found[i].size);
            e.resize(o.found[i].size);
            all.emplace_back(e, host, service);
        }
        return all;
    }
    void block(std::tuple<error_code, results>& v) const {
        record o;
        prepare(o);
        resolver->perform(o);
        v = take(o);
    }

private:
    void set(record& o, resolve_request& r, char const* host) const noexcept {
        auto const kind = Protocol::v4();
        o.request = &r;
        o.family = family;
        o.type = kind.type();
        o.protocol = kind.protocol();
        o.flags = flags;
        prepare_names(o, names, host);
    }
};

/// From an endpoint to its names.
template <class Protocol> struct resolve_endpoint : operation::primitive<resolve_endpoint<Protocol>> {
    using results = ip::basic_resolver_results<Protocol>;
    using endpoint = typename Protocol::endpoint;
    using signature = void(error_code, results);
    using record = resolve_record;

    resolver_core* resolver;
    mutable resolve_request request;
    endpoint asked;

    resolve_endpoint(resolver_core& c, endpoint const& e) noexcept : resolver(&c), asked(e) {}
    loop* home() const noexcept { return resolver->engine; }
    void prepare(record& o) const noexcept { set(o, request, asked.data()); }
    static constexpr std::size_t extra_bytes() noexcept { return sizeof(resolve_request) + sizeof(endpoint); }
    void prepare(record& o, void* extra) const noexcept {
        auto* const r = ::new (extra) resolve_request;
        std::memcpy(static_cast<void*>(r + 1), asked.data(), asked.size());
        set(o, *r, r + 1);
    }
    void submit(record& o) const noexcept { resolver->start(o, *o.request); }
    static constexpr bool drops = true;
    static void drop(record& o) noexcept {
        resolver_core::finish(*o.request);
        delete o.name;
    }
    static std::tuple<error_code, results> take(record& o) noexcept {
        auto ec = resolve_error(o);
        results r;
        if (!ec) {
            try {
                endpoint e;
                auto const size = static_cast<std::size_t>(o.protocol);
                std::memcpy(e.data(), o.host, size);
                e.resize(size);
                r = results({ip::basic_resolver_entry<Protocol>(e, o.name->host, o.name->service)});
            } catch (std::bad_alloc const&) {
                ec = error::no_memory; // thrown, it would take the record with it
            }
        }
        drop(o);
        return {ec, std::move(r)};
    }
    void block(std::tuple<error_code, results>& v) const {
        record o;
        prepare(o);
        resolver->perform(o);
        v = take(o);
    }

private:
    void set(record& o, resolve_request& r, void const* address) const noexcept {
        o.cancel = nullptr;
        o.request = &r;
        o.host = static_cast<char const*>(address);
        o.service = nullptr;
        o.family = 0;
        o.type = Protocol::v4().type();
        o.protocol = static_cast<int>(asked.size());
        o.flags = 0;
        o.failure = 0;
        o.reverse = true;
        o.late = false;
        o.result = {0, 0, 0};
        o.name = nullptr;
        o.found_count = 0;
        o.query = nullptr;
    }
};

} // namespace impl::net

namespace ip {

/// Asks the system's name service (getaddrinfo), on a thread of its own so that the caller never waits.
/// Threads: one object by one thread at a time.
template <class Protocol, class Executor> class basic_resolver : public resolver_base {
public:
    using protocol_type = Protocol;
    using endpoint_type = typename Protocol::endpoint;
    using results_type = basic_resolver_results<Protocol>;
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_resolver<Protocol, E>;
    };

    explicit basic_resolver(Executor const& e) : executor_(e), core_(io::impl::io_loop_for(e)) {}
    template <execution_context_type Context> explicit basic_resolver(Context& c)
        : basic_resolver(Executor(c.get_executor())) {}
    basic_resolver(basic_resolver&&) noexcept = default;
    basic_resolver& operator=(basic_resolver&&) noexcept = default;
    /// Takes over a resolver whose executor has another type.
    template <class E>
        requires(!std::same_as<E, Executor> && std::convertible_to<E, Executor>)
    basic_resolver(basic_resolver<Protocol, E>&& other) noexcept
        : executor_(other.executor_),
          core_(std::move(other.core_)) {
        core_.engine.note_executor(executor_);
    }

    executor_type get_executor() const noexcept { return executor_; }
    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.engine.runs_handlers(); }
    /// Pending look-ups complete with operation_aborted at once, whatever the name service does.
    void cancel() { core_.cancel(); }

    /// Looks up host and service (a name or a port number).
    /// Completes  (error_code ec, results_type results)
    /// Errors     error::host_not_found            the name does not exist, or there is neither host nor service
    ///            error::host_not_found_try_again  the name server did not answer: try again later
    ///            error::service_not_found         no such service: give a port number, and nothing for raw sockets
    ///            error::no_recovery               the name service failed
    ///            error::no_data                   the name has no address that the look-up may return
    ///            error::no_memory                 for the results
    ///            error::operation_aborted         cancelled
    /// Cancel     terminal, partial, total; cancel() ends all look-ups of the resolver
    /// Immediate  never
    /// Lifetime   *this outlives the completion; host and service are copied
    /// Threads    one object by one thread at a time
    /// Allocates  one counted block, and from global new the results, which are the receiver's
    /// Source     man 3 getaddrinfo
    template <class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, flags>)
    decltype(auto) async_resolve(std::string_view host, std::string_view service, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::resolve<Protocol>>) {
        return async_resolve(host, service, none, std::forward<Token>(token));
    }
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_resolve(std::string_view host, std::string_view service, flags f, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::resolve<Protocol>>) {
        using init = impl::net::resolve<Protocol>;
        return impl::operation::initiate_on<typename init::signature>(
            *this, std::forward<Token>(token), init(core_, host, service, impl::net::os::af_unspec, f));
    }
    /// The same look-up, for one version of the protocol only.
    template <class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, flags>)
    decltype(auto)
    async_resolve(Protocol const& p, std::string_view host, std::string_view service, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::resolve<Protocol>>) {
        return async_resolve(p, host, service, none, std::forward<Token>(token));
    }
    template <class Token = default_completion_token_t<Executor>> decltype(auto)
    async_resolve(Protocol const& p, std::string_view host, std::string_view service, flags f,
                  Token&& token =
                      {}) noexcept(impl::operation::nothrow_token<std::decay_t<Token>, impl::net::resolve<Protocol>>) {
        using init = impl::net::resolve<Protocol>;
        return impl::operation::initiate_on<typename init::signature>(*this, std::forward<Token>(token),
                                                                      init(core_, host, service, p.family(), f));
    }
    /// The same look-up in reverse: the names of an endpoint, in one entry. A host or service without a name keeps its
    /// number. Nobody is asked for the name of 127.0.0.1 and ::1, which is "localhost".
    /// Source     man 3 getnameinfo
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_resolve(endpoint_type const& e, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::resolve_endpoint<Protocol>>) {
        using init = impl::net::resolve_endpoint<Protocol>;
        return impl::operation::initiate_on<typename init::signature>(*this, std::forward<Token>(token),
                                                                      init(core_, e));
    }

    // Look-ups in the calling thread.

    results_type resolve(std::string_view host, std::string_view service, flags f = none) {
        error_code ec;
        return checked(resolve(host, service, f, ec), ec, host, service);
    }
    results_type resolve(std::string_view host, std::string_view service, error_code& ec) {
        return resolve(host, service, none, ec);
    }
    results_type resolve(std::string_view host, std::string_view service, flags f, error_code& ec) {
        return impl::net::perform<results_type>(
            ec, impl::net::resolve<Protocol>(core_, host, service, impl::net::os::af_unspec, f));
    }
    results_type resolve(Protocol const& p, std::string_view host, std::string_view service, flags f = none) {
        error_code ec;
        return checked(resolve(p, host, service, f, ec), ec, host, service);
    }
    results_type resolve(Protocol const& p, std::string_view host, std::string_view service, error_code& ec) {
        return resolve(p, host, service, none, ec);
    }
    results_type resolve(Protocol const& p, std::string_view host, std::string_view service, flags f, error_code& ec) {
        return impl::net::perform<results_type>(ec, impl::net::resolve<Protocol>(core_, host, service, p.family(), f));
    }
    results_type resolve(endpoint_type const& e) {
        error_code ec;
        return checked(resolve(e, ec), ec, e);
    }
    results_type resolve(endpoint_type const& e, error_code& ec) {
        return impl::net::perform<results_type>(ec, impl::net::resolve_endpoint<Protocol>(core_, e));
    }

private:
    template <class... What> static results_type checked(results_type&& r, error_code const& ec, What const&... what) {
        if (ec)
            impl::base::throw_error_now(ec, impl::net::text_of_look_up(what...).c_str());
        return std::move(r);
    }

    template <class P, class E> friend class basic_resolver;
    Executor executor_;
    impl::net::resolver_core core_;
};

} // namespace ip
} // namespace fairlead
