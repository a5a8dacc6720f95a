// execution::allocator.
#pragma once

#include <fairlead/legacy/property_of_executors.hpp>

namespace fairlead::execution {

/// Where execute() takes memory from: allocator(a).
template <class ProtoAllocator> class allocator_t : public impl::legacy::property_of_executors {
public:
    static constexpr bool is_requirable = true;
    static constexpr bool is_preferable = true;
    constexpr explicit allocator_t(ProtoAllocator const& a) : allocator_(a) {}
    constexpr ProtoAllocator value() const { return allocator_; }

private:
    [[no_unique_address]] ProtoAllocator allocator_;
};
/// The allocator that an executor has of itself.
template <> class allocator_t<void> : public impl::legacy::property_of_executors {
public:
    static constexpr bool is_requirable = true;
    static constexpr bool is_preferable = true;
    template <class ProtoAllocator> constexpr allocator_t<ProtoAllocator> operator()(ProtoAllocator const& a) const {
        return allocator_t<ProtoAllocator>(a);
    }
};
/// `require(ex, execution::allocator(a))`; by itself it is the default allocator.
inline constexpr allocator_t<void> allocator{};

} // namespace fairlead::execution
