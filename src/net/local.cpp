// UNIX-domain endpoints: the one place that knows sockaddr_un.
#include <fairlead/base/error.hpp>
#include <fairlead/net/local.hpp>

#include <net/address_text.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <sys/socket.h>
#include <sys/un.h>

namespace fairlead::detail {

static_assert(sizeof(local_endpoint) == 112 && std::is_trivially_copyable_v<local_endpoint>);
static_assert(local::stream_protocol::endpoint::capacity() == sizeof(sockaddr_un));
static_assert(local_endpoint::path_offset == offsetof(sockaddr_un, sun_path));
static_assert(local_endpoint::path_max == sizeof(sockaddr_un::sun_path));
static_assert(sizeof(sa_family_t) == sizeof(std::uint16_t) && offsetof(sockaddr_un, sun_family) == 0);

local_endpoint::local_endpoint() noexcept : bytes_{AF_UNIX, {}} {}

local_endpoint::local_endpoint(std::string_view path) : local_endpoint() {
    bool const is_abstract = path.starts_with('\0');
    if (path.size() > (is_abstract ? path_max : path_max - 1))
        impl::net::throw_error_of(error::name_too_long, "local endpoint", path);
    if (!is_abstract && path.find('\0') != path.npos)
        impl::net::throw_error_of(error::invalid_argument, "local endpoint", path); // up to that NUL
    std::copy(path.begin(), path.end(), bytes_.path);
    length_ = static_cast<std::uint16_t>(path.size());
}

void local_endpoint::resize(std::size_t size) {
    // For a path that fills sun_path Linux counts a NUL beyond it, which it did not write.
    if (size > path_offset + path_max + 1)
        impl::base::throw_error(error::invalid_argument, "endpoint");
    std::size_t const written = std::clamp(size, path_offset, path_offset + path_max) - path_offset;
    bool const is_abstract = written != 0 && bytes_.path[0] == '\0';
    length_ = static_cast<std::uint16_t>(is_abstract ? written : ::strnlen(bytes_.path, written));
    // Bytes that the system left behind the name must not be sent, and the NUL must not be missing.
    std::fill(bytes_.path + length_, bytes_.path + path_max, '\0');
}

std::string_view local_endpoint::path() const noexcept { return {bytes_.path, length_}; }
bool operator==(local_endpoint const& a, local_endpoint const& b) noexcept { return a.path() == b.path(); }
std::strong_ordering operator<=>(local_endpoint const& a, local_endpoint const& b) noexcept {
    return a.path() <=> b.path();
}

std::string local_endpoint::to_string() const {
    std::string text(path());
    std::replace(text.begin(), text.end(), '\0', '@');
    return text;
}

std::size_t local_endpoint::hash() const noexcept { return std::hash<std::string_view>()(path()); }

} // namespace fairlead::detail
