// The secrets of connections in a file, for programs that decrypt what they have recorded.
#include <tls/settings.hpp>

namespace fairlead::ssl {
namespace {

void append_secret(SSL const* s, char const* line) {
    if (auto const* const kept = impl::settings_of(SSL_get_SSL_CTX(s)))
        kept->secrets.append(line);
}

} // namespace

error_code context::set_key_log_file(std::string const& file, error_code& ec) {
    auto* const kept = impl::make_settings(handle_);
    if (!kept)
        return ec = fairlead::error::no_memory;
    if (int const error = kept->secrets.open(file.c_str()))
        return ec = {error, fairlead::error::get_system_category()};
    SSL_CTX_set_keylog_callback(handle_, &append_secret);
    return ec = {};
}

} // namespace fairlead::ssl
