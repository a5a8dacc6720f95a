// A pointer that owns, as std::unique_ptr does. The header of that one takes <ostream> along, which is a tenth of what
// a socket's header takes to compile.
#pragma once

#include <fairlead/base/taken_from.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace fairlead::impl::base {

/// Deletes what it points to, once. T is complete where one is destroyed or given another value.
template <class T> class owned {
public:
    constexpr owned() noexcept = default;
    explicit owned(T* p) noexcept : p_(p) {}
    owned(owned&& other) noexcept : p_(other.release()) {}
    /// Takes over from a std::unique_ptr, or from one that points to something derived.
    template <class Owner>
        requires(!std::is_lvalue_reference_v<Owner>) && requires(Owner& o) {
            { o.release() } -> std::convertible_to<T*>;
        }
    owned(Owner&& other) noexcept : p_(other.release()) {}
    owned& operator=(owned other) noexcept {
        p_ = base::taken_from(other.p_, p_);
        return *this;
    }
    ~owned() { delete p_; }

    T* release() noexcept { return base::taken_from(p_); }
    T* get() const noexcept { return p_; }
    T& operator*() const noexcept { return *p_; }
    T* operator->() const noexcept { return p_; }
    explicit operator bool() const noexcept { return p_ != nullptr; }

private:
    T* p_ = nullptr;
};

} // namespace fairlead::impl::base
