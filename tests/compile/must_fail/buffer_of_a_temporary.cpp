// Fails: temporary whose address is used as value of local variable 'b' will be destroyed
// Clang: -Werror=dangling
#include <fairlead/base/buffer.hpp>
#include <string>

std::size_t size() {
#ifdef GOOD
    std::string const text("abc");
    fairlead::const_buffer const b = fairlead::buffer(text);
#else
    fairlead::const_buffer const b = fairlead::buffer(std::string("abc"));
#endif
    return b.size();
}
