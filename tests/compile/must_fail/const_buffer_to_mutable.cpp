// Fails: could not convert|no viable conversion|conversion from .* requested
#include <fairlead/base/buffer.hpp>

#ifdef GOOD
using target = fairlead::const_buffer;
#else
using target = fairlead::mutable_buffer;
#endif

target widen(fairlead::const_buffer from) { return from; }
