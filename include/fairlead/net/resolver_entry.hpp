// One endpoint that a look-up found.
#pragma once

#include <string>
#include <utility>

namespace fairlead::ip {

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

} // namespace fairlead::ip
