#include <fairlead/net/generic.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

#include <sys/socket.h>

namespace fairlead::detail {

static_assert(generic_endpoint::size_max == sizeof(sockaddr_storage));

generic_endpoint::generic_endpoint() noexcept : bytes_{}, size_(sizeof(sa_family_t)), protocol_(0) {}

generic_endpoint::generic_endpoint(void const* address, std::size_t size, int protocol) : generic_endpoint() {
    resize(size);
    std::memcpy(bytes_, address, size);
    protocol_ = protocol;
}

void generic_endpoint::resize(std::size_t size) {
    if (size > size_max)
        impl::base::throw_error(error::invalid_argument, "endpoint");
    size_ = static_cast<std::uint32_t>(size);
}

int generic_endpoint::family() const noexcept {
    sa_family_t f = AF_UNSPEC;
    std::memcpy(&f, bytes_, std::min<std::size_t>(sizeof f, size_));
    return f;
}

namespace {
std::string_view text_of(generic_endpoint const& e) noexcept { return {static_cast<char const*>(e.data()), e.size()}; }
} // namespace

std::size_t generic_endpoint::hash() const noexcept { return std::hash<std::string_view>()(text_of(*this)); }

bool operator==(generic_endpoint const& a, generic_endpoint const& b) noexcept { return text_of(a) == text_of(b); }
std::strong_ordering operator<=>(generic_endpoint const& a, generic_endpoint const& b) noexcept {
    return text_of(a) <=> text_of(b);
}

} // namespace fairlead::detail
