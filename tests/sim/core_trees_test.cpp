// Trees of parallel groups, promises, coros and generators, under many seeds, as programs written for Asio make them.
// At their leaves are reads, writes and waits. They are asked to end, and promises, coros and generators go early. Each
// operation ends once. It is ended early only where somebody has asked. Bytes are neither lost nor invented.
#include <fairlead/coro/generator.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/spawn_coro.hpp>
#include <fairlead/coro/use_coro.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/parallel_group.hpp>
#include <fairlead/token/use_promise.hpp>
#include <support/scale.hpp>

#include <sim/tree_leaves.hpp>

#include <gtest/gtest.h>

#include <fairlead/sim/seeds.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using experimental::coro;
using experimental::use_coro;
using experimental::use_promise;
using sim::world;
using test::alive;
using test::once;
using test::trees::asked_scope;
using test::trees::async_leaf;
using test::trees::leaf_kind;
using test::trees::node;
using test::trees::orchard;
using test::trees::scope_ptr;

error_code error_of(std::exception_ptr const& e) {
    try {
        if (e)
            std::rethrow_exception(e);
        return {};
    } catch (system_error const& s) {
        return s.code();
    }
}

cancellation_type random_type(orchard& o) {
    constexpr std::array types{cancellation_type::terminal, cancellation_type::partial, cancellation_type::total,
                               cancellation_type::all};
    return types[o.below(4)];
}

enum class end_of_group { all, one, one_success, one_error };

/// The ends of the parts of a group, to be compared with the result that it gives.
struct group_account {
    end_of_group end;
    cancellation_type how;
    scope_ptr inner; ///< asked when an end has decided
    std::vector<std::size_t> order;
    std::vector<error_code> errors;
    std::vector<std::size_t> bytes;

    group_account(end_of_group e, cancellation_type h, scope_ptr around, std::size_t parts)
        : end(e),
          how(h),
          inner(std::make_shared<asked_scope>(std::move(around))),
          errors(parts),
          bytes(parts) {}
    bool decides(error_code ec) const noexcept {
        switch (end) {
        case end_of_group::all: return false;
        case end_of_group::one: return true;
        case end_of_group::one_success: return !ec;
        default: return static_cast<bool>(ec);
        }
    }
    /// Called right before the group itself hears of it.
    void note(std::size_t part, error_code ec, std::size_t n) {
        order.push_back(part);
        errors[part] = ec;
        bytes[part] = n;
        if (decides(ec))
            inner->is_asked = true;
    }
};

/// The result of a group as one of a node.
struct sum_of_group {
    error_code ec;
    std::size_t n = 0;
};

class tree_script {
public:
    explicit tree_script(world& w) : ground(w) {
        ground.account.stack_begins();
        auto const trees = w.choose("trees", 1, 4);
        auto const depth = static_cast<int>(w.choose("depth", 1, 3));
        auto const asks = w.choose("asks", 0, 2) != 0;
        for (std::uint64_t i = 0; i != trees; ++i) {
            signals_.push_back(std::make_unique<cancellation_signal>());
            auto const scope = std::make_shared<asked_scope>(nullptr);
            auto const slot = signals_.back()->slot();
            make(depth, scope)(
                bind_cancellation_slot(slot, once(ground.account, [this](error_code, std::size_t) { ++ended_; })));
            if (asks)
                ground.soon([s = signals_.back().get(), scope, type = random_type(ground)] {
                    scope->is_asked = true;
                    s->emit(type);
                });
        }
        if (w.choose("destroys", 0, 7) == 0)
            ground.soon([this] {
                ground.is_destroyed = true;
                ground.account.end_everything();
            });
    }
    void settle() {
        kept_generators_.clear();
        ground.account.settle();
        if (ground.is_destroyed)
            return;
        ground.account.check(ended_ == signals_.size(), "a tree has not ended");
        ground.account.check(ground.world.elapsed() < 1min,
                             "somebody was not asked to end, and has waited for an hour");
        ground.check_bytes();
    }
    std::size_t counted[6] = {};

    orchard ground;

private:
    std::uint32_t below(std::uint32_t n) { return ground.below(n); }
    alive mark() { return alive(ground.account); }
    node make_leaf(leaf_kind k, scope_ptr s) { return async_leaf(ground, k, std::move(s), deferred); }
    leaf_kind short_kind() { return static_cast<leaf_kind>(below(4)); }

    node make(int depth, scope_ptr s) {
        auto const kind = depth == 0 ? 0 : below(8);
        if (kind != 0)
            ++counted[std::min(kind, 5U)];
        switch (kind) {
        case 0: return make_leaf(short_kind(), std::move(s));
        case 1: return spawned(in_a_coroutine(depth, std::move(s), mark()));
        case 2: return spawned(by_a_promise(depth, std::move(s), mark()));
        case 3: return spawned(from_a_generator(depth, std::move(s), mark()));
        case 4: return from_coros(depth, std::move(s));
        default: return make_group(depth, std::move(s));
        }
    }
    /// A coroutine as an operation.
    template <class Op> static node with_error_code(Op op) {
        return std::move(op) |
               deferred([](std::exception_ptr const& e, std::size_t n) { return deferred.values(error_of(e), n); });
    }
    node spawned(awaitable<std::size_t> a) { return with_error_code(co_spawn(ground.context, std::move(a), deferred)); }

    // ---- groups

    node make_group(int depth, scope_ptr s) {
        auto const end = static_cast<end_of_group>(below(4));
        auto const n = below(2) == 0 ? 3 : 1 + below(4);
        auto const g = std::make_shared<group_account>(end, random_type(ground), std::move(s), n);
        std::vector<node> parts;
        for (std::size_t i = 0; i != n; ++i)
            parts.push_back(noted(g, i, make_part(depth, *g, i)));
        if (below(16) == 0) { // It never starts. Another one does.
            auto const never = experimental::make_parallel_group(std::move(parts));
            return make_leaf(leaf_kind::waits, g->inner->around);
        }
        switch (end) {
        case end_of_group::all: return wait_for(g, std::move(parts), experimental::wait_for_all());
        case end_of_group::one: return wait_for(g, std::move(parts), experimental::wait_for_one(g->how));
        case end_of_group::one_success:
            return wait_for(g, std::move(parts), experimental::wait_for_one_success(g->how));
        default: return wait_for(g, std::move(parts), experimental::wait_for_one_error(g->how));
        }
    }
    /// The first part decides by itself at last, so others may wait for ever.
    node make_part(int depth, group_account& g, std::size_t i) {
        if (i == 0 && g.end == end_of_group::one_success)
            return make_leaf(leaf_kind::waits, g.inner);
        if (i == 0 && g.end == end_of_group::one_error)
            return make_leaf(leaf_kind::fails, g.inner);
        if (i == 0 || g.end == end_of_group::all || below(3) != 0)
            return make(depth - 1, g.inner);
        // A coroutine hears terminal requests alone. A success may be kept from coming by another one.
        bool const all_hear = g.end != end_of_group::one_success && !!(g.how & cancellation_type::terminal);
        return for_ever(g.inner, all_hear ? below(6) : 0);
    }
    node for_ever(scope_ptr s, std::uint32_t way) {
        auto op = make_leaf(leaf_kind::waits_for_ever, std::move(s));
        switch (way) {
        case 1: return spawned(await_node(std::move(op), mark()));
        case 2: return with_error_code(experimental::co_spawn(std::move(op)(use_coro), deferred));
        case 3: return spawned(await_promise(std::move(op), mark()));
        case 4: return spawned(await_generator(std::move(op), mark()));
        case 5: return spawned(await_resumption(std::move(op), mark()));
        default: return op;
        }
    }
    static awaitable<std::size_t> await_node(node op, alive) { co_return co_await std::move(op); }
    static awaitable<std::size_t> await_promise(node op, alive) {
        auto p = std::move(op)(use_promise);
        auto end = p(use_await);
        co_return co_await std::move(end);
    }
    static generator<std::size_t> yields_one(node op, alive) {
        auto const n = co_await std::move(op);
        co_yield n;
    }
    awaitable<std::size_t> await_generator(node op, alive) {
        auto g = yields_one(std::move(op), mark());
        auto next = g.next();
        auto const n = co_await next;
        co_return n.value_or(0);
    }
    static coro<std::size_t> yields_one_more(io_context&, node op, alive) {
        auto const n = co_await std::move(op);
        co_yield n;
    }
    awaitable<std::size_t> await_resumption(node op, alive) {
        auto c = yields_one_more(ground.context, std::move(op), mark());
        auto resumed = c.async_resume(use_await);
        auto const n = co_await std::move(resumed);
        co_return n.value_or(0);
    }
    node noted(std::shared_ptr<group_account> g, std::size_t i, node part) {
        return std::move(part) | deferred([g, i](error_code ec, std::size_t n) {
                   g->note(i, ec, n);
                   return deferred.values(ec, n);
               });
    }
    template <class Condition> node wait_for(std::shared_ptr<group_account> g, std::vector<node> parts, Condition c) {
        if (parts.size() == 3 && below(2) == 0) {
            auto op = experimental::make_parallel_group(std::move(parts[0]), std::move(parts[1]), std::move(parts[2]))
                          .async_wait(c, deferred);
            return std::move(op) | deferred([this, g](std::array<std::size_t, 3> order, error_code e0, std::size_t n0,
                                                      error_code e1, std::size_t n1, error_code e2, std::size_t n2) {
                       auto const sum = result_of(*g, {order.begin(), order.end()}, {e0, e1, e2}, {n0, n1, n2});
                       return deferred.values(sum.ec, sum.n);
                   });
        }
        auto op = experimental::make_parallel_group(std::move(parts)).async_wait(c, deferred);
        return std::move(op) | deferred([this, g](std::vector<std::size_t> order, std::vector<error_code> errors,
                                                  std::vector<std::size_t> bytes) {
                   auto const sum = result_of(*g, std::move(order), std::move(errors), std::move(bytes));
                   return deferred.values(sum.ec, sum.n);
               });
    }
    sum_of_group result_of(group_account& g, std::vector<std::size_t> order, std::vector<error_code> errors,
                           std::vector<std::size_t> bytes) {
        auto& account = ground.account;
        account.check(order.size() == errors.size() && order == g.order,
                      "a group says another order than that of the ends");
        account.check(errors == g.errors && bytes == g.bytes, "a group has results that are not those of its parts");
        sum_of_group sum;
        for (auto const i : order) {
            sum.n += bytes[i];
            if (!sum.ec || sum.ec == error::operation_aborted)
                sum.ec = errors[i];
        }
        bool const succeeds =
            g.end == end_of_group::one_success && std::find(errors.begin(), errors.end(), error_code()) != errors.end();
        if (succeeds)
            sum.ec = {};
        return sum;
    }

    // ---- coroutines

    awaitable<void> pause() {
        steady_timer t(ground.context, ground.short_time());
        co_await t.async_wait();
    }
    awaitable<std::size_t> in_a_coroutine(int depth, scope_ptr s, alive) {
        auto op = make(depth - 1, std::move(s));
        co_return co_await std::move(op);
    }
    awaitable<std::size_t> by_a_promise(int depth, scope_ptr s, alive) {
        auto const mine = std::make_shared<asked_scope>(std::move(s));
        auto const way = below(5); // In three of them it is asked to end.
        auto op = way == 1 || way == 2 || way == 3 ? for_ever_or_not(depth, mine) : make(depth - 1, mine);
        auto p = std::move(op)(use_promise);
        if (way != 0)
            co_await pause();
        if (way == 1) {
            mine->is_asked = true;
            p.cancel(random_type(ground));
        }
        if (way == 2) { // It goes, and the operation is asked.
            mine->is_asked = true;
            co_return 0;
        }
        if (way == 3) { // A handler waits. It is called, too, when the promise goes before.
            p(once(ground.account, [](error_code, std::size_t) {}));
            co_await pause();
            mine->is_asked = true;
            co_return 0;
        }
        auto end = p(use_await);
        auto const n = co_await std::move(end);
        ground.account.check(p.completed(), "a promise has not ended, but whoever waits for it has");
        co_return n;
    }

    node for_ever_or_not(int depth, scope_ptr s) {
        return below(2) == 0 ? make_leaf(leaf_kind::waits_for_ever, std::move(s)) : make(depth - 1, std::move(s));
    }

    // ---- generators

    generator<std::size_t> counts(int depth, scope_ptr s, std::uint32_t most, alive) {
        for (std::uint32_t i = 0; i != most; ++i) {
            auto op = make(depth - 1, s)(as_tuple);
            auto const [ec, n] = co_await std::move(op);
            if (ec == error::operation_aborted)
                co_return;
            co_yield n;
        }
    }
    awaitable<std::size_t> from_a_generator(int depth, scope_ptr s, alive) {
        auto g = counts(depth, std::move(s), below(4), mark());
        std::size_t sum = 0;
        for (auto wanted = below(4); wanted != 0; --wanted) {
            auto next = g.next();
            auto const n = co_await next;
            if (!n)
                break;
            sum += *n;
        }
        if (below(2) == 0) // It goes later, while no coroutine runs.
            keep_for_now(std::move(g));
        co_return sum;
    }
    void keep_for_now(generator<std::size_t> g) {
        auto const i = kept_generators_.size();
        kept_generators_.emplace_back(std::move(g));
        ground.soon([this, i] { kept_generators_[i].reset(); });
    }

    // ---- coros

    static coro<std::size_t> yields(io_context&, tree_script& t, int depth, scope_ptr s, std::uint32_t most, alive) {
        for (std::uint32_t i = 0; i != most; ++i) {
            auto op = t.make(depth - 1, s);
            auto const n = co_await std::move(op);
            co_yield n;
        }
    }
    static coro<void, std::size_t> returns(io_context&, tree_script& t, int depth, scope_ptr s, alive) {
        if (t.below(2) == 0) {
            auto inner = t.make(depth - 1, std::move(s))(use_coro);
            co_return co_await inner;
        }
        auto inner = yields(t.ground.context, t, depth, std::move(s), 1 + t.below(3), t.mark());
        std::size_t sum = 0;
        for (auto wanted = t.below(4); wanted != 0; --wanted) {
            auto const n = co_await inner;
            if (!n)
                break;
            sum += *n;
        }
        co_return sum;
    }
    node from_coros(int depth, scope_ptr s) {
        switch (below(3)) {
        case 0: { // A leaf says where it runs. Groups do not, and are awaited in a coro.
            auto c = make_leaf(short_kind(), std::move(s))(use_coro);
            return with_error_code(experimental::co_spawn(std::move(c), deferred));
        }
        case 1: {
            auto c = returns(ground.context, *this, depth, std::move(s), mark());
            return with_error_code(experimental::co_spawn(std::move(c), deferred));
        }
        default: return spawned(by_resuming(depth, std::move(s), mark()));
        }
    }
    awaitable<std::size_t> by_resuming(int depth, scope_ptr s, alive) {
        auto c = yields(ground.context, *this, depth, std::move(s), below(4), mark());
        std::size_t sum = 0;
        for (auto wanted = below(4); wanted != 0 && c.is_open(); --wanted) {
            auto op = c.async_resume(use_await);
            auto const n = co_await std::move(op);
            if (!n)
                break;
            sum += *n;
        }
        if (below(2) == 0 && c.is_open()) // It goes in the middle of this, which comes to its end all the same.
            c.async_resume(once(ground.account, [](std::exception_ptr const&, std::optional<std::size_t>) {}));
        if (below(2) == 0)
            co_await pause();
        co_return sum;
    }

    std::vector<std::unique_ptr<cancellation_signal>> signals_;
    std::vector<std::optional<generator<std::size_t>>> kept_generators_;
    std::size_t ended_ = 0;
};

TEST(CoreTrees, EachOperationEndsOnceAndNoByteIsLost) {
    std::size_t leaves = 0;
    std::array<std::size_t, 6> made{};
    sim::for_each_seed(test::scaled(400, 40), [&](world& w) {
        tree_script t(w);
        w.run();
        t.settle();
        EXPECT_EQ(t.ground.account.faults(), "");
        leaves += t.ground.leaves;
        for (std::size_t i = 0; i != made.size(); ++i)
            made[i] += t.counted[i];
    });
    if (std::getenv("SIM_SEED") || std::getenv("SIM_COUNT") || std::getenv("SIM_JOBS"))
        return;
    EXPECT_GT(leaves, 100U);
    EXPECT_GT(*std::min_element(made.begin() + 1, made.end()), 5U);
}

} // namespace
