// Fails: (use of deleted function .*const_buffer|invokes a deleted function)
#include <fairlead/base/buffer.hpp>

#ifdef GOOD
using target = fairlead::const_buffer;
#else
using target = fairlead::mutable_buffer;
#endif

target widen(fairlead::const_buffer from) { return from; }
