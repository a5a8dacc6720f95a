// A share in what a client or a connection is made of: for coroutines that go on when that has been destroyed.
#pragma once

#include <fairlead/base/config.hpp>

#include <utility>

namespace fairlead::redis::impl {

class client_core;
class connection_core;
FAIRLEAD_EXPORT void retain(client_core& c) noexcept;
FAIRLEAD_EXPORT void release(client_core& c) noexcept;
FAIRLEAD_EXPORT void retain(connection_core& c) noexcept;
FAIRLEAD_EXPORT void release(connection_core& c) noexcept;

/// Calls through it are refused once the client or the connection has gone.
template <class Core> class hold {
public:
    explicit hold(Core& c) noexcept : core_(&c) { retain(c); }
    hold(hold&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    hold& operator=(hold&&) = delete;
    ~hold() {
        if (core_)
            release(*core_);
    }
    Core& operator*() const noexcept { return *core_; }

private:
    Core* core_;
};

} // namespace fairlead::redis::impl
