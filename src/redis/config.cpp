#include <fairlead/redis/config.hpp>

namespace fairlead::redis {
namespace {

/// The same settings with texts of another type. Names all of them, so that one which is new is not forgotten.
template <class To, class From> basic_config<To> with_text(basic_config<From> const& c) {
    auto const& [address, username, password, client_name, database, allow_resp2, connect_timeout, hello_timeout,
                 health_check_interval, request_timeout, cancel_if_not_connected, keep_unsent, check_order, dedicated,
                 wait_when_full, requests_max, queued_bytes_max, pushes_max, push_bytes_max, pushes, read_bytes_min,
                 read_bytes_max, limits] = c;
    return {To(address),
            To(username),
            To(password),
            To(client_name),
            database,
            allow_resp2,
            connect_timeout,
            hello_timeout,
            health_check_interval,
            request_timeout,
            cancel_if_not_connected,
            keep_unsent,
            check_order,
            dedicated,
            wait_when_full,
            requests_max,
            queued_bytes_max,
            pushes_max,
            push_bytes_max,
            pushes,
            read_bytes_min,
            read_bytes_max,
            limits};
}

} // namespace

config::config(config_view const& settings) : basic_config(with_text<std::string>(settings)) {}
config::operator config_view() const noexcept { return with_text<std::string_view>(*this); }

} // namespace fairlead::redis
