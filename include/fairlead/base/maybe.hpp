// A value or none. std::optional costs 40 KiB in every program; nothing of it but this is needed here.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

namespace fairlead::impl::base {

/// As std::optional: it can be filled, asked, and moved into what it is returned to.
template <class T> class maybe {
public:
    maybe() noexcept {}
    maybe(T&& value) noexcept(std::is_nothrow_move_constructible_v<T>) { emplace(std::move(value)); }
    maybe(maybe&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
        if (other)
            emplace(std::move(*other));
    }
    maybe& operator=(maybe&&) = delete;
    ~maybe()
        requires std::is_trivially_destructible_v<T>
    = default;
    ~maybe() {
        if (has_value_)
            value_.~T();
    }

    template <class... Args> T& emplace(Args&&... args) {
        ::new (static_cast<void*>(&value_)) T(std::forward<Args>(args)...);
        has_value_ = true;
        return value_;
    }
    explicit operator bool() const noexcept { return has_value_; }
    T& operator*() noexcept { return value_; }

private:
    union {
        T value_;
    };
    bool has_value_ = false;
};

} // namespace fairlead::impl::base
