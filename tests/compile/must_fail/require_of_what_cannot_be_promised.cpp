// Fails: write prefer\(x, property\)
#include <fairlead/legacy/with_properties.hpp>

auto possibly(fairlead::any_io_executor const& e) {
#ifdef GOOD
    return fairlead::prefer(e, fairlead::execution::blocking.possibly);
#else
    return fairlead::require(e, fairlead::execution::blocking.possibly);
#endif
}
