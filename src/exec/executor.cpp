#include <fairlead/exec/executor.hpp>

namespace fairlead {

[[noreturn]] void detail::throw_no_context() { throw bad_executor(); }

char const* bad_executor::what() const noexcept {
    return "bad executor: an empty any_io_executor was used; construct it from an executor";
}

namespace detail {

template <> executor_properties executor_table<loop_executor>::properties(void const* p) {
    return properties_of(in(p));
}
template <> any_io_executor executor_table<loop_executor>::prefer(void const* p, any_property asked) {
    return preferred(in(p), asked);
}

} // namespace detail

} // namespace fairlead
