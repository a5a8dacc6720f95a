// Fails: use of deleted function .*HandlerOfOtherArguments|uses deleted function
#include <fairlead/token/any_completion_handler.hpp>

#ifdef GOOD
using handler = fairlead::any_completion_handler<void(int)>;
#else
using handler = fairlead::any_completion_handler<void(char const*)>;
#endif

handler make() {
    return handler([](int) {});
}
