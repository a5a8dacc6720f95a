#include <fairlead/exec/executor.hpp>

namespace fairlead {

[[noreturn]] void detail::throw_no_context() { throw bad_executor(); }

char const* bad_executor::what() const noexcept {
    return "bad executor: an empty any_io_executor was used; construct it from an executor";
}

} // namespace fairlead
