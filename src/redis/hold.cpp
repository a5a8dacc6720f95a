#include <fairlead/redis/hold.hpp>

#include <redis/client_core.hpp>

namespace fairlead::redis::impl {

void retain(client_core& c) noexcept { c.retain(); }
void release(client_core& c) noexcept { c.release(); }
void retain(connection_core& c) noexcept { c.retain(); }
void release(connection_core& c) noexcept { c.release(); }

} // namespace fairlead::redis::impl
