// execution::execute(ex, f), from before executors had nothing but the member.
#pragma once

#include <fairlead/exec/executor_concept.hpp>
#include <fairlead/legacy/context_property.hpp>

#include <asio/fairlead.hpp>

#include <utility>

namespace fairlead::execution {

template <executor Executor, class Function> void execute(Executor const& ex, Function&& function) {
    fairlead::impl::exec::execute_on(ex, std::forward<Function>(function));
}

} // namespace fairlead::execution
