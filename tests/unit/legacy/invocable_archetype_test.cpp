#include <fairlead/legacy/invocable_archetype.hpp>

#include <fairlead/exec/inline_executor.hpp>

#include <gtest/gtest.h>

#include <concepts>

namespace {

using fairlead::execution::invocable_archetype;
static_assert(std::invocable<invocable_archetype&> && std::invocable<invocable_archetype&, int, char const*>);

TEST(InvocableArchetype, IsAFunctionLikeAnyOtherForAnExecutor) {
    fairlead::inline_executor().execute(invocable_archetype());
}

} // namespace
