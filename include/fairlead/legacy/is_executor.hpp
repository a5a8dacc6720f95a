// is_executor: what the Networking TS calls an executor.
#pragma once

#include <fairlead/exec/function_executor.hpp>

#include <concepts>
#include <type_traits>

namespace fairlead {

class execution_context;

namespace impl::legacy {

template <class T>
concept ts_executor = std::copy_constructible<T> &&
                      requires(T const& e, void (*f)(), exec::allocator_archetype<char> a, execution_context*& c) {
                          c = &e.context();
                          e.on_work_started();
                          e.on_work_finished();
                          e.dispatch(f, a);
                          e.post(f, a);
                          e.defer(f, a);
                      } && std::equality_comparable<T>;

} // namespace impl::legacy

/// Whether T is what the Networking TS calls an executor: the executors of contexts, pools, strands and of the system
/// are. This library asks for less (`io_executor`, `execution::executor`), and never calls these members.
template <class T> struct is_executor : std::bool_constant<impl::legacy::ts_executor<T>> {};

} // namespace fairlead
