// Running something where the stack is small, so that what grows with the work shows as a crash.
#pragma once

#include <support/deadline.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>

#include <pthread.h>

namespace fairlead::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif
#ifdef __OPTIMIZE__
inline constexpr bool optimised = !sanitized;
#else
inline constexpr bool optimised = false;
#endif

/// Runs f on a thread with a small stack: 64 KiB, or what the build mode needs for the same calls.
inline void on_small_stack(std::function<void()> f) {
    std::size_t const size = (sanitized ? 1024U : optimised ? 64U : 128U) * 1024;
    pthread_attr_t attributes;
    ASSERT_EQ(::pthread_attr_init(&attributes), 0);
    ASSERT_EQ(::pthread_attr_setstacksize(&attributes, size), 0);
    pthread_t thread;
    ASSERT_EQ(::pthread_create(
                  &thread, &attributes,
                  [](void* p) -> void* {
                      (*static_cast<std::function<void()>*>(p))();
                      return nullptr;
                  },
                  &f),
              0);
    waiting_for const w("the thread with a small stack");
    ::pthread_join(thread, nullptr);
    ::pthread_attr_destroy(&attributes);
}

} // namespace fairlead::test
