// The sessions that clients of a context may resume, by the name of the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <openssl/ssl.h>

namespace fairlead::ssl::impl {

struct session_freed {
    void operator()(SSL_SESSION* s) const noexcept { SSL_SESSION_free(s); }
};
using session_ptr = std::unique_ptr<SSL_SESSION, session_freed>;

/// Any thread. A session belongs to an epoch: a context that verifies otherwise than before begins another one.
class session_cache {
public:
    session_cache() noexcept = default;
    session_cache(session_cache const&) = delete;
    session_cache& operator=(session_cache const&) = delete;

    /// So many at most, the newest; 0: none, as at first.
    void keep(std::size_t most);
    void begin_epoch() noexcept;
    /// 0: none are kept.
    std::uint64_t epoch() noexcept;
    /// Null: none is there. One of TLS 1.3 is used once, so that nobody can tell by it that two connections have one
    /// client (RFC 8446, appendix C.4).
    session_ptr take(std::string_view name) noexcept;
    void put(std::string_view name, std::uint64_t epoch, session_ptr s);

private:
    struct entry {
        std::string name;
        session_ptr session;
    };
    using entries = std::list<entry>;
    void drop(entries::iterator e) noexcept;

    std::mutex mutex_;
    std::size_t most_ = 0;
    std::uint64_t epoch_ = 1;
    entries all_; // the oldest first
    std::unordered_multimap<std::string_view, entries::iterator> by_name_;
};

} // namespace fairlead::ssl::impl
