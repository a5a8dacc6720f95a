// Names to endpoints.
#pragma once

#include <fairlead/net/ip.hpp>
#include <fairlead/net/socket.hpp>

#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead {
namespace ip {

/// Flags of a look-up, as in addrinfo.
class resolver_base {
public:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // v4_mapped: ip::v4_mapped is another thing, and both names are Asio's
    enum flags : int {
        none = 0,
        passive = 0x0001,
        canonical_name = 0x0002,
        numeric_host = 0x0004,
        v4_mapped = 0x0008,
        all_matching = 0x0010,
        address_configured = 0x0020,
        numeric_service = 0x0400
    };
#pragma GCC diagnostic pop
    friend constexpr flags operator|(flags a, flags b) noexcept {
        return static_cast<flags>(static_cast<int>(a) | static_cast<int>(b));
    }
    friend constexpr flags operator&(flags a, flags b) noexcept {
        return static_cast<flags>(static_cast<int>(a) & static_cast<int>(b));
    }
    friend constexpr flags operator^(flags a, flags b) noexcept {
        return static_cast<flags>(static_cast<int>(a) ^ static_cast<int>(b));
    }
    friend constexpr flags operator~(flags a) noexcept { return static_cast<flags>(~static_cast<int>(a)); }
    friend constexpr flags& operator|=(flags& a, flags b) noexcept { return a = a | b; }
    friend constexpr flags& operator&=(flags& a, flags b) noexcept { return a = a & b; }
    friend constexpr flags& operator^=(flags& a, flags b) noexcept { return a = a ^ b; }

protected:
    resolver_base() = default;
    ~resolver_base() = default;
};

/// The flags under the name that they had when a look-up was an object.
class resolver_query_base : public resolver_base {
protected:
    ~resolver_query_base() = default;
};

/// One endpoint that a name stands for.
template <class Protocol> class basic_resolver_entry {
public:
    using endpoint_type = typename Protocol::endpoint;
    basic_resolver_entry() = default;
    basic_resolver_entry(endpoint_type const& e, std::string host, std::string service)
        : endpoint_(e),
          host_(std::move(host)),
          service_(std::move(service)) {}
    endpoint_type endpoint() const { return endpoint_; }
    operator endpoint_type() const { return endpoint_; }
    std::string host_name() const { return host_; }
    std::string service_name() const { return service_; }
    template <class Allocator> auto host_name(Allocator const& a) const {
        return std::basic_string<char, std::char_traits<char>, Allocator>(host_.data(), host_.size(), a);
    }
    template <class Allocator> auto service_name(Allocator const& a) const {
        return std::basic_string<char, std::char_traits<char>, Allocator>(service_.data(), service_.size(), a);
    }

private:
    endpoint_type endpoint_;
    std::string host_;
    std::string service_;
};

/// What a look-up found: a range of entries, cheap to copy.
template <class Protocol> class basic_resolver_results {
    using entries = std::vector<basic_resolver_entry<Protocol>>;

public:
    using protocol_type = Protocol;
    using value_type = basic_resolver_entry<Protocol>;
    using reference = value_type&;
    using const_reference = value_type const&;
    using difference_type = std::ptrdiff_t;
    using size_type = std::size_t;
    using endpoint_type = typename Protocol::endpoint;
    using const_iterator = typename entries::const_iterator;
    using iterator = const_iterator;

    basic_resolver_results() = default;
    explicit basic_resolver_results(entries e) : entries_(std::make_shared<entries const>(std::move(e))) {}
    /// What somebody other than a resolver found: a fake in a test, or a directory of services.
    static basic_resolver_results create(endpoint_type const& endpoint, std::string const& host,
                                         std::string const& service) {
        return create(&endpoint, &endpoint + 1, host, service);
    }
    template <std::input_iterator Iterator>
        requires std::convertible_to<std::iter_reference_t<Iterator>, endpoint_type>
    static basic_resolver_results create(Iterator begin, Iterator end, std::string const& host,
                                         std::string const& service) {
        entries all;
        for (; begin != end; ++begin)
            all.emplace_back(*begin, host, service);
        return basic_resolver_results(std::move(all));
    }

    const_iterator begin() const noexcept { return entries_ ? entries_->begin() : const_iterator(); }
    const_iterator end() const noexcept { return entries_ ? entries_->end() : const_iterator(); }
    const_iterator cbegin() const noexcept { return begin(); }
    const_iterator cend() const noexcept { return end(); }
    std::size_t size() const noexcept { return entries_ ? entries_->size() : 0; }
    std::size_t max_size() const noexcept { return size(); }
    bool empty() const noexcept { return size() == 0; }
    void swap(basic_resolver_results& other) noexcept { entries_.swap(other.entries_); }

    /// The same look-up's results, or both empty.
    friend bool operator==(basic_resolver_results const& a, basic_resolver_results const& b) noexcept {
        return a.entries_ == b.entries_ || (a.empty() && b.empty());
    }

private:
    std::shared_ptr<entries const> entries_;
};

} // namespace ip

namespace detail {

/// A look-up's place in its resolver's list, once it is on its way.
struct resolve_request : op_link {
    io::resolve_op* pending = nullptr;
    io_loop* context = nullptr; ///< whose owner may touch the list of requests
    resolve_request() noexcept { next = prev = nullptr; }
};

/// Host and service as the system takes them. What is longer than any name, or has a NUL in it, would be looked up cut
/// short: it is not kept, and there is no such host.
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
    explicit resolver_core(io_loop_ref const& l) noexcept : context(l) { requests.next = requests.prev = &requests; }
    FAIRLEAD_EXPORT resolver_core(resolver_core&& other) noexcept;
    FAIRLEAD_EXPORT resolver_core& operator=(resolver_core&& other) noexcept;
    ~resolver_core() { cancel(); }
    FAIRLEAD_EXPORT void cancel() noexcept;
    /// A look-up that has failed already, in its preparation, completes as it is.
    FAIRLEAD_EXPORT void start(io::resolve_op& o, resolve_request& r) noexcept;
    FAIRLEAD_EXPORT void perform(io::resolve_op& o) noexcept;
    FAIRLEAD_EXPORT static void finish(resolve_request& r) noexcept;

    io_loop_ref context;
    op_link requests;
    bool was_started = false; ///< since the last cancel(): only then can there be requests
};

struct resolve_record : io::resolve_op {
    resolve_request* request;
    resolve_record() noexcept {}
};
static_assert(await_record::fits<resolve_record>);

FAIRLEAD_EXPORT error_code resolve_error(io::resolve_op const& o) noexcept;
/// Fills the record for a look-up of names, or of none that are acceptable.
FAIRLEAD_EXPORT void prepare_names(io::resolve_op& o, look_up_names const& names, char const* host) noexcept;

template <class Protocol> struct resolve : primitive<resolve<Protocol>> {
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
    loop* home() const noexcept { return resolver->context; }
    void prepare(record& o) const noexcept { set(o, request, names.host()); }
    std::size_t room() const noexcept { return sizeof(resolve_request) + names.size(); }
    void prepare(record& o, void* room) const noexcept {
        auto* const r = ::new (room) resolve_request;
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
            o.request->context->driver().resolve_blocking(o);
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
template <class Protocol> struct resolve_endpoint : primitive<resolve_endpoint<Protocol>> {
    using results = ip::basic_resolver_results<Protocol>;
    using endpoint = typename Protocol::endpoint;
    using signature = void(error_code, results);
    using record = resolve_record;

    resolver_core* resolver;
    mutable resolve_request request;
    endpoint asked;

    resolve_endpoint(resolver_core& c, endpoint const& e) noexcept : resolver(&c), asked(e) {}
    loop* home() const noexcept { return resolver->context; }
    void prepare(record& o) const noexcept { set(o, request, asked.data()); }
    static constexpr std::size_t room() noexcept { return sizeof(resolve_request) + sizeof(endpoint); }
    void prepare(record& o, void* room) const noexcept {
        auto* const r = ::new (room) resolve_request;
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
    }
};

} // namespace detail

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

    explicit basic_resolver(Executor const& e) : executor_(e), core_(detail::io_loop_for(e)) {}
    template <execution_context_type Context> explicit basic_resolver(Context& c)
        : basic_resolver(Executor(c.get_executor())) {}
    basic_resolver(basic_resolver&&) noexcept = default;
    basic_resolver& operator=(basic_resolver&&) noexcept = default;
    /// Takes over a resolver whose executor has another type.
    template <class E>
        requires(!std::same_as<E, Executor> && std::convertible_to<E, Executor>)
    basic_resolver(basic_resolver<Protocol, E>&& other) noexcept
        : executor_(other.executor_),
          core_(std::move(other.core_)) {}

    executor_type get_executor() const noexcept { return executor_; }
    /// Pending look-ups complete with operation_aborted at once, whatever the name service does.
    void cancel() { core_.cancel(); }

    /// Looks up host and service (a name or a port number).
    /// Completes  (error_code ec, results_type results)
    /// Errors     error::host_not_found            the name does not exist
    ///            error::host_not_found_try_again  the name server did not answer: try again later
    ///            error::service_not_found         no such service: give a port number
    ///            error::no_recovery               the name service failed
    ///            error::no_data                   the name has no address that the look-up may return
    ///            error::no_memory                 for the results
    ///            error::operation_aborted         cancelled
    /// Cancel     none; cancel() ends all look-ups of the resolver
    /// Immediate  never
    /// Lifetime   *this outlives the completion; host and service are copied
    /// Threads    one object by one thread at a time
    /// Allocates  one counted block, and from global new the results, which are the receiver's
    /// Source     man 3 getaddrinfo
    template <class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, flags>)
    decltype(auto) async_resolve(std::string_view host, std::string_view service, Token&& token = {}) {
        return async_resolve(host, service, none, std::forward<Token>(token));
    }
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_resolve(std::string_view host, std::string_view service, flags f, Token&& token = {}) {
        using init = detail::resolve<Protocol>;
        return detail::initiate_on<typename init::signature>(this->executor_, std::forward<Token>(token),
                                                             init(core_, host, service, detail::os::af_unspec, f));
    }
    /// The same for one version of the protocol only.
    template <class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, flags>)
    decltype(auto) async_resolve(Protocol const& p, std::string_view host, std::string_view service,
                                 Token&& token = {}) {
        return async_resolve(p, host, service, none, std::forward<Token>(token));
    }
    template <class Token = default_completion_token_t<Executor>> decltype(auto)
    async_resolve(Protocol const& p, std::string_view host, std::string_view service, flags f, Token&& token = {}) {
        using init = detail::resolve<Protocol>;
        return detail::initiate_on<typename init::signature>(this->executor_, std::forward<Token>(token),
                                                             init(core_, host, service, p.family(), f));
    }
    /// The same in reverse: the names of an endpoint, in one entry. What has no name keeps its number.
    /// Source     man 3 getnameinfo
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_resolve(endpoint_type const& e, Token&& token = {}) {
        using init = detail::resolve_endpoint<Protocol>;
        return detail::initiate_on<typename init::signature>(this->executor_, std::forward<Token>(token),
                                                             init(core_, e));
    }

    // The same in the calling thread.

    results_type resolve(std::string_view host, std::string_view service, flags f = none) {
        error_code ec;
        return checked(resolve(host, service, f, ec), ec);
    }
    results_type resolve(std::string_view host, std::string_view service, error_code& ec) {
        return resolve(host, service, none, ec);
    }
    results_type resolve(std::string_view host, std::string_view service, flags f, error_code& ec) {
        return perform(detail::resolve<Protocol>(core_, host, service, detail::os::af_unspec, f), ec);
    }
    results_type resolve(Protocol const& p, std::string_view host, std::string_view service, flags f = none) {
        error_code ec;
        return checked(resolve(p, host, service, f, ec), ec);
    }
    results_type resolve(Protocol const& p, std::string_view host, std::string_view service, error_code& ec) {
        return resolve(p, host, service, none, ec);
    }
    results_type resolve(Protocol const& p, std::string_view host, std::string_view service, flags f, error_code& ec) {
        return perform(detail::resolve<Protocol>(core_, host, service, p.family(), f), ec);
    }
    results_type resolve(endpoint_type const& e) {
        error_code ec;
        return checked(resolve(e, ec), ec);
    }
    results_type resolve(endpoint_type const& e, error_code& ec) {
        return perform(detail::resolve_endpoint<Protocol>(core_, e), ec);
    }

private:
    template <class Init> static results_type perform(Init const& init, error_code& ec) {
        std::tuple<error_code, results_type> v;
        init.block(v);
        ec = std::get<0>(v);
        return std::get<1>(std::move(v));
    }
    static results_type checked(results_type&& r, error_code const& ec) {
        detail::throw_error(ec, "resolve");
        return std::move(r);
    }

    template <class P, class E> friend class basic_resolver;
    Executor executor_;
    detail::resolver_core core_;
};

/// The name of this machine; inside run() of a simulated host, that host's.
FAIRLEAD_EXPORT std::string host_name();
FAIRLEAD_EXPORT std::string host_name(error_code& ec);

} // namespace ip
} // namespace fairlead
