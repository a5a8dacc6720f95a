// Fails: a dynamic buffer refers to this object, which has to outlive the operation: give it a name
#include <fairlead/base/dynamic_buffer.hpp>

std::size_t size() {
#ifdef GOOD
    std::string text;
    auto const b = fairlead::dynamic_buffer(text);
#else
    auto const b = fairlead::dynamic_buffer(std::string());
#endif
    return b.size();
}
