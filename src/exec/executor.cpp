#include <fairlead/exec/executor.hpp>

namespace fairlead {

constinit impl::exec::executor_functions const impl::exec::executor_table_of<loop_executor>::compiled =
    impl::exec::executor_table<loop_executor>::functions;

[[noreturn]] void impl::exec::throw_no_context() { throw bad_executor(); }

char const* bad_executor::what() const noexcept {
    return "bad executor: an empty any_io_executor was used; construct it from an executor";
}

} // namespace fairlead
