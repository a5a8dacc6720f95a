// Instantiations that would otherwise be made, and be the same, in each program.
#include <fairlead/io/io_context.hpp>
#include <fairlead/io/io_loop_for.hpp>

namespace fairlead {

constinit impl::exec::executor_functions const impl::exec::executor_table_of<io_context::executor_type>::compiled =
    executor_table<io_context::executor_type>::functions;

template <> io::impl::io_loop_ref io::impl::io_loop_for(any_io_executor const& e) { return find_io_loop(e); }

} // namespace fairlead
