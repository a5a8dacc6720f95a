// dispatch, post and defer as members of executors.
#pragma once

#include <fairlead/exec/executor_concept.hpp>
#include <fairlead/exec/ts_members.hpp>
#include <fairlead/legacy/allocated_function_op.hpp>
#include <fairlead/legacy/is_executor.hpp>
#include <fairlead/legacy/uses_executor.hpp>

#include <type_traits>
#include <utility>

namespace fairlead::impl {

struct exec::ts_functions {
    template <class E, class F, class Allocator> static void dispatch(E const& e, F&& f, Allocator const& a) {
        if (e.running_in_this_thread()) {
            std::decay_t<F> function(std::forward<F>(f));
            std::move(function)();
        } else {
            post(e, std::forward<F>(f), a);
        }
    }
    template <class E, class F, class Allocator> static void post(E const& e, F&& f, Allocator const& a) {
        exec::queue_function(e, exec::op_function(*legacy::allocated_function_op<std::decay_t<F>, Allocator>::make(
                                    std::forward<F>(f), a)));
    }
};

} // namespace fairlead::impl
