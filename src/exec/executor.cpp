#include <fairlead/exec/executor.hpp>

namespace fairlead {

constinit detail::executor_functions const detail::executor_table_of<loop_executor>::compiled =
    executor_table<loop_executor>::functions;

[[noreturn]] void detail::throw_no_context() { throw bad_executor(); }

char const* bad_executor::what() const noexcept {
    return "bad executor: an empty any_io_executor was used; construct it from an executor";
}

} // namespace fairlead
