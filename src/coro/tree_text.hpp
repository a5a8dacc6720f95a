// A tree of chains as a text.
#pragma once

#include <fairlead/coro/chain_tree.hpp>
#include <fairlead/exec/function_names.hpp>

#include <functional>
#include <string>

namespace fairlead::impl::coro {

/// Appends the tree below `top`, one line for each coroutine. `heading` says what a chain is called.
void write_tree(std::string& text, await_record const& top, exec::function_names& names,
                std::function<std::string(await_record const&)> const& heading);
/// Does a group that is awaited have the chain as a member? Then it is in the tree of another one.
bool is_below_another(await_record const& r) noexcept;

} // namespace fairlead::impl::coro
