// An object of the operations of core_operations_test.cpp, at the place that they know or moved away from it.
#pragma once

#include <fairlead/io/io_context.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace fairlead::test::script {

/// Something that becomes of an object.
enum class deed : std::uint8_t {
    cancel,
    close,
    destroy,
    assign_another_one,
    move_there_and_back,
    assign_there_and_back,
    move_away, ///< operations go along; the place where it was has a new object
};
/// Whether the operations of the object are aborted, and it is closed.
constexpr bool is_end(deed d) noexcept {
    return d == deed::close || d == deed::destroy || d == deed::assign_another_one;
}
inline constexpr std::uint32_t deeds = 7;

/// An object at the place that its operations know, or wherever it was moved since.
template <class T> class home {
public:
    template <class... Args> explicit home(io_context& c, Args&&... args)
        : context_(c),
          here_(c, std::forward<Args>(args)...) {}
    home(home const&) = delete;
    home& operator=(home const&) = delete;

    T& here() noexcept { return here_; }
    T& now() noexcept { return away_ ? *away_ : here_; }
    bool is_away() const noexcept { return away_.has_value(); }
    void undergo(deed d) {
        switch (d) {
        case deed::cancel: return cancel();
        case deed::close: return close();
        case deed::destroy:
            if (away_)
                away_.reset();
            else
                renew();
            return;
        case deed::assign_another_one:
            if constexpr (std::movable<T>)
                now() = T(context_);
            else
                renew();
            return;
        default:
            if constexpr (std::movable<T>)
                move(d);
        }
    }

private:
    void move(deed d) {
        switch (d) {
        case deed::move_there_and_back: {
            T moved(std::move(now()));
            now() = std::move(moved);
            return;
        }
        case deed::assign_there_and_back: {
            T target(context_);
            target = std::move(now());
            now() = std::move(target);
            return;
        }
        case deed::move_away:
            if (away_)
                return;
            away_.emplace(std::move(here_));
            renew();
            return;
        default: return;
        }
    }
    void cancel() {
        error_code ec;
        if constexpr (requires { now().cancel(ec); })
            now().cancel(ec);
        else
            now().cancel();
    }
    void close() {
        error_code ec;
        if constexpr (requires { now().close(ec); })
            now().close(ec);
        else
            now().cancel();
        if constexpr (requires { now().clear(ec); }) // A signal set has nothing else to close.
            now().clear(ec);
    }
    void renew() {
        std::destroy_at(&here_);
        std::construct_at(&here_, context_);
    }
    io_context& context_;
    T here_;
    std::optional<T> away_;
};

} // namespace fairlead::test::script
