#include <fairlead/coro/chain_tree.hpp>

#include <fairlead/exec/function_names.hpp>

namespace fairlead::impl::coro {
namespace {

/// A frame begins with the function that resumes it.
void const* function_of(std::coroutine_handle<> h) noexcept { return *static_cast<void const* const*>(h.address()); }

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

std::string tree_below(await_record const& top) {
    std::string text;
    exec::function_names names;
    tree_walk::visit(top, [&](await_record const& r, std::size_t depth) {
        auto const line = [&](std::string const& what) { text += std::string(4 * depth, ' ') + what + '\n'; };
        bool const asked = r.notes & await_record::can_be_asked && r.hooks->is_asked(const_cast<await_record&>(r));
        auto const* const group = tree_walk::group_of(r);
        line(std::string(group ? "a chain that awaits a group" : "a chain") + (asked ? ", asked to end" : ""));
        for (auto const* l = r.innermost; l; l = l->parent)
            line("  " + names.of(function_of(const_cast<exec::chain_link*>(l)->handle())));
    });
    return text;
}

std::string whole_tree(await_record const& r) {
    await_record const* top = &r;
    while (auto const* const above = tree_walk::above(*top))
        top = above;
    return tree_below(*top);
}

} // namespace fairlead::impl::coro
