#include <coro/tree_text.hpp>

#include <fairlead/exec/executor.hpp>
#include <fairlead/operation/chain_requests.hpp>

#include <bit>
#include <source_location>

namespace fairlead::impl::coro {
namespace {

/// A frame begins with the function that resumes it.
void const* function_of(std::coroutine_handle<> h) noexcept { return *static_cast<void const* const*>(h.address()); }

/// The operation in whose table a function is: "...::primitive_functions<fairlead::detail::signal_wait, ...>::cancel".
std::string operation_named_by(std::string const& function) {
    constexpr std::string_view table = "_functions";
    auto begin = function.find('<', function.find(table));
    if (begin == function.npos)
        return function;
    auto const type_at = [&function](std::size_t at) {
        return function.substr(at, function.find_first_of(",<>", at) - at);
    };
    auto type = type_at(++begin);
    if (type.ends_with(table)) // boxed_functions<generic_functions, ...>
        type = type_at(begin + type.size() + std::string_view(", ").size());
    return type;
}

/// Of a chain whose innermost coroutine notes its awaits, while that waits.
exec::await_note const* note_of(await_record const& r) noexcept {
    return r.innermost && r.innermost->place ? r.note : nullptr;
}

/// The operation that the chain awaits, as its type is called; empty: nobody knows, or there is none.
std::string operation_of(await_record& r, exec::function_names& names) {
    if (auto const* const note = note_of(r); note && note->what)
        return operation_named_by(names.of(note->what));
    if (!(r.notes & await_record::can_be_asked))
        return {};
    auto const awaited = operation::requests_of(r).state.awaited();
    return awaited.cancel ? operation_named_by(names.of(reinterpret_cast<void const*>(awaited.cancel))) : std::string();
}

/// Of the latest co_await; empty: it was not noted.
std::string place_of(exec::chain_link const& l) {
    if (!l.place)
        return {};
    auto const where = std::bit_cast<std::source_location>(l.place);
    return std::string("  ") + where.file_name() + ':' + std::to_string(where.line());
}

/// How long the chain has waited.
std::string time_of_wait(await_record const& r) {
    auto const* const note = note_of(r);
    loop* const home = note ? r.executor->native_loop() : nullptr;
    if (!home || note->since_ns == 0)
        return {};
    auto const ms = (home->clock_ns() - note->since_ns) / 1'000'000;
    auto const decimals = std::to_string(1000 + ms % 1000).substr(1);
    return ", for " + std::to_string(ms / 1000) + '.' + decimals + " s";
}

} // namespace

/// The steps of a walk over a tree, from one chain to another.
class tree_walk {
public:
    static chain_group const* group_of(await_record const& r) noexcept {
        return r.state == exec::await_state::group ? r.get<awaited_group>().group : nullptr;
    }
    static group_member const* member_of(await_record const& r) noexcept {
        return r.hooks->member ? &r.hooks->member(r) : nullptr;
    }
    static await_record const* above(await_record const& r) noexcept {
        auto const* const m = member_of(r);
        return m ? m->group_->awaited_by_ : nullptr;
    }
    static await_record const* first_below(await_record const& r) noexcept {
        auto const* const g = group_of(r);
        return g && g->first_ ? g->first_->chain_ : nullptr;
    }
    static await_record const* next_beside(await_record const& r) noexcept {
        auto const* const m = member_of(r);
        return m && m->next_ ? m->next_->chain_ : nullptr;
    }

    /// The whole of a subtree, each chain before those below it.
    template <class F> static void visit(await_record const& top, F f) {
        std::size_t depth = 0;
        for (await_record const* r = &top;;) {
            f(*r, depth);
            if (auto const* const below = first_below(*r)) {
                r = below;
                ++depth;
                continue;
            }
            for (;;) {
                if (r == &top)
                    return;
                if (auto const* const beside = next_beside(*r)) {
                    r = beside;
                    break;
                }
                r = above(*r);
                --depth;
            }
        }
    }
};

bool is_below_another(await_record const& r) noexcept { return tree_walk::above(r) != nullptr; }

void write_tree(std::string& text, await_record const& top, exec::function_names& names,
                std::function<std::string(await_record const&)> const& heading) {
    tree_walk::visit(top, [&](await_record const& r, std::size_t depth) {
        auto const line = [&](std::string const& what) { text += std::string(4 * depth, ' ') + what + '\n'; };
        bool const asked = r.notes & await_record::can_be_asked && r.hooks->is_asked(const_cast<await_record&>(r));
        line(heading(r) + (tree_walk::group_of(r) ? ", awaits a group" : "") + (asked ? ", asked to end" : ""));
        auto const operation = operation_of(const_cast<await_record&>(r), names);
        if (!operation.empty() && !tree_walk::group_of(r))
            line("  waits for " + operation);
        for (auto const* l = r.innermost; l; l = l->parent)
            line("  " + names.of(function_of(const_cast<exec::chain_link*>(l)->handle())) + place_of(*l) +
                 (l == r.innermost ? time_of_wait(r) : std::string()));
    });
}

std::string tree_below(await_record const& top) {
    std::string text;
    exec::function_names names;
    write_tree(text, top, names, [](await_record const&) { return "a chain"; });
    return text;
}

std::string whole_tree(await_record const& r) {
    await_record const* top = &r;
    while (auto const* const above = tree_walk::above(*top))
        top = above;
    return tree_below(*top);
}

} // namespace fairlead::impl::coro
