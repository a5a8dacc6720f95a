// The constants that all descriptors share.
#pragma once

#include <fairlead/net/socket_options.hpp>

namespace fairlead::posix {

/// The constants that all descriptors share.
class descriptor_base {
public:
    enum wait_type { wait_read, wait_write, wait_error };
    using bytes_readable = socket_base::bytes_readable;

protected:
    descriptor_base() = default;
    ~descriptor_base() = default;
};

} // namespace fairlead::posix
