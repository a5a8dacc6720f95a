#include <fairlead/operation/erased_associations.hpp>

namespace fairlead::impl::operation {
namespace {

constexpr std::size_t whole(std::size_t bytes) noexcept { return block_units(bytes) * sizeof(block_unit); }
erased_executor none(void const*) noexcept { return {}; }

} // namespace

void no_associations::deallocate(void const*, void* block, std::size_t bytes) noexcept {
    exec::recycle_free_sized(block, whole(bytes));
}
constinit association_functions const no_associations::functions{
    [](void const*, std::size_t bytes) { return exec::recycle_allocate(whole(bytes)); }, &no_associations::deallocate,
    &none, &none};

} // namespace fairlead::impl::operation
