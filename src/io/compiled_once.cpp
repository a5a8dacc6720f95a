// Instantiations that would otherwise be made, and be the same, in each program.
#include <fairlead/io/io_context.hpp>
#include <fairlead/io/io_loop_for.hpp>

namespace fairlead::detail {

constinit executor_functions const executor_table_of<io_context::executor_type>::compiled =
    executor_table<io_context::executor_type>::functions;

template <> io_loop_ref io_loop_for(any_io_executor const& e) { return find_io_loop(e); }

} // namespace fairlead::detail
