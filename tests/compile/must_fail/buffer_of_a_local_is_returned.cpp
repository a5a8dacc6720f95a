// Fails: address of stack memory associated with local variable 'bytes' returned
// Clang: -Werror=return-stack-address
#include <fairlead/base/buffer.hpp>

#ifdef GOOD
fairlead::mutable_buffer make(char (&bytes)[8]) { return fairlead::buffer(bytes); }
#else
fairlead::mutable_buffer make() {
    char bytes[8];
    return fairlead::buffer(bytes);
}
#endif
