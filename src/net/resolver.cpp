#include <fairlead/net/resolver.hpp>

#include <algorithm>

#include <netdb.h>

namespace fairlead::impl::net {

static_assert(ip::resolver_base::passive == AI_PASSIVE && ip::resolver_base::canonical_name == AI_CANONNAME &&
              ip::resolver_base::numeric_host == AI_NUMERICHOST && ip::resolver_base::v4_mapped == AI_V4MAPPED &&
              ip::resolver_base::all_matching == AI_ALL && ip::resolver_base::address_configured == AI_ADDRCONFIG &&
              ip::resolver_base::numeric_service == AI_NUMERICSERV);

namespace {

void link(op_link& list, resolve_request& r) noexcept {
    r.next = &list;
    r.prev = list.prev;
    list.prev->next = &r;
    list.prev = &r;
}

} // namespace

look_up_names::look_up_names(std::string_view host, std::string_view service) noexcept {
    for (auto const name : {host, service})
        if (name.size() > longest || name.find('\0') != std::string_view::npos)
            return;
    host_size_ = static_cast<std::uint16_t>(host.size());
    size_ = static_cast<std::uint16_t>(host.size() + service.size() + 2);
    char* const end = std::copy(host.begin(), host.end(), text_);
    *end = '\0';
    *std::copy(service.begin(), service.end(), end + 1) = '\0';
}

void prepare_names(io::resolve_op& o, look_up_names const& names, char const* host) noexcept {
    o.cancel = nullptr;
    o.host = host;
    o.service = names.service_behind(host);
    o.failure = names.acceptable() ? 0 : EAI_NONAME;
    o.reverse = false;
    o.late = false;
    o.result = {0, 0, 0};
    o.found = nullptr;
    o.found_count = 0;
    o.query = nullptr;
}

void resolver_core::perform(io::resolve_op& o) noexcept {
    if (!o.failure)
        engine->host().resolve_blocking(o);
}

void resolver_core::start(io::resolve_op& o, resolve_request& r) noexcept {
    if (o.failure) {
        engine->post(o);
        return;
    }
    r.pending = &o;
    r.engine = engine;
    was_started = true;
    engine->as_owner([&]() noexcept {
        link(requests, r);
        engine->host().resolve(o);
    });
}

void resolver_core::finish(resolve_request& r) noexcept {
    if (!r.engine)
        return;
    r.engine->as_owner([&]() noexcept {
        if (!r.next)
            return;
        op_queue::unlink(r);
        r.next = r.prev = nullptr;
        r.pending = nullptr;
    });
}

void resolver_core::cancel() noexcept {
    if (!std::exchange(was_started, false))
        return;
    engine->as_owner([this]() noexcept {
        while (requests.next != &requests) {
            auto& r = static_cast<resolve_request&>(*requests.next);
            FAIRLEAD_ASSERT(r.pending); // It is listed as long as its op is under way.
            auto& o = *r.pending;
            finish(r);
            engine->host().cancel_resolve(o);
        }
    });
}

resolver_core::resolver_core(resolver_core&& other) noexcept : resolver_core(other.engine) { *this = std::move(other); }
resolver_core& resolver_core::operator=(resolver_core&& other) noexcept {
    if (this == &other)
        return *this;
    cancel();
    engine = other.engine;
    was_started = std::exchange(other.was_started, false);
    if (!was_started)
        return *this;
    engine->as_owner([&]() noexcept {
        while (other.requests.next != &other.requests) {
            auto& r = static_cast<resolve_request&>(*other.requests.next);
            op_queue::unlink(r);
            link(requests, r);
        }
    });
    return *this;
}

error_code resolve_error(io::resolve_op const& o) noexcept {
    if (o.result.error)
        return {o.result.error, error::get_system_category()};
    switch (o.failure) {
    case 0: return o.found_count ? error_code() : error::make_error_code(error::no_data);
    case EAI_AGAIN: return error::host_not_found_try_again;
    case EAI_BADFLAGS: return error::invalid_argument;
    case EAI_FAIL: return error::no_recovery;
    case EAI_FAMILY: return error::address_family_not_supported;
    case EAI_MEMORY: return error::no_memory;
    case EAI_SERVICE: return error::service_not_found;
    case EAI_SOCKTYPE: return error::socket_type_not_supported;
#ifdef EAI_NODATA
    case EAI_NODATA:
#endif
#ifdef EAI_ADDRFAMILY
    case EAI_ADDRFAMILY:
#endif
    case EAI_NONAME:
    default: return error::host_not_found;
    }
}

} // namespace fairlead::impl::net

namespace fairlead::ip {

std::string host_name(error_code& ec) {
    char name[256];
    loop* const l = impl::exec::this_thread.current;
    auto const r =
        l ? io_loop::of(*l).host().host_name(name, sizeof name) : io::host::system_host_name(name, sizeof name);
    ec = impl::operation::to_error_code(r.error);
    return ec ? std::string() : std::string(name);
}
std::string host_name() {
    error_code ec;
    auto name = host_name(ec);
    impl::base::throw_error(ec, "host_name");
    return name;
}

} // namespace fairlead::ip
