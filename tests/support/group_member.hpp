// A member of a group that gets its coroutine when it joins.
#pragma once

#include <fairlead/coro/chain_tree.hpp>

#include <utility>

namespace fairlead::test {

class group_member final : public impl::coro::member_of<void> {
public:
    void join(impl::coro::chain_group& g, any_io_executor const& e, awaitable<void> a) {
        coroutine_ = std::move(a);
        g.add(*this, e);
    }

private:
    awaitable<void> begin() noexcept override { return std::move(coroutine_); }
    void release() noexcept override { coroutine_ = awaitable<void>(); }

    awaitable<void> coroutine_;
};

} // namespace fairlead::test
