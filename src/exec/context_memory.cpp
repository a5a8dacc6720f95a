#include <fairlead/exec/context_memory.hpp>

#include <utility>

namespace fairlead::impl::exec {
namespace {

/// Stands before a part. As large as the strictest alignment among the parts, which keep threads off each other's
/// lines.
struct alignas(64) origin {
    context_memory_ref memory;
    std::size_t bytes; ///< of the part and this
};

bool is_ordinary(block_shape shape) noexcept { return shape.alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__; }

} // namespace

context_memory::~context_memory() = default;

void* take_memory(context_memory* from, block_shape shape) {
    if (from)
        return from->take(shape);
    return is_ordinary(shape) ? ::operator new(shape.bytes)
                              : ::operator new(shape.bytes, std::align_val_t{shape.alignment});
}

void give_memory_back(context_memory* to, void* p, block_shape shape) noexcept {
    if (to)
        to->give_back(p, shape);
    else if (is_ordinary(shape))
        ::operator delete(p);
    else
        ::operator delete(p, std::align_val_t{shape.alignment});
}

void* in_context_memory::operator new(std::size_t bytes, context_memory_ref const& from) {
    auto const all = bytes + sizeof(origin);
    auto* const place = ::new (take_memory(from.get(), {all, alignof(origin)})) origin{from, all};
    return place + 1;
}

void in_context_memory::operator delete(void* p) noexcept {
    if (!p)
        return;
    origin* const place = static_cast<origin*>(p) - 1;
    // The last part takes the memory itself along, after it has gone back there.
    context_memory_ref const memory = std::move(place->memory);
    auto const all = place->bytes;
    place->~origin();
    give_memory_back(memory.get(), place, {all, alignof(origin)});
}

} // namespace fairlead::impl::exec
