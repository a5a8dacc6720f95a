// Version, visibility and the few compiler differences. The only file that asks which compiler this is.
#pragma once

#define FAIRLEAD_VERSION_MAJOR 0
#define FAIRLEAD_VERSION_MINOR 1
#define FAIRLEAD_VERSION_PATCH 0

#define FAIRLEAD_EXPORT __attribute__((visibility("default")))
#define FAIRLEAD_NOINLINE __attribute__((noinline))
#define FAIRLEAD_COLD __attribute__((noinline, cold))
#define FAIRLEAD_ALWAYS_INLINE __attribute__((always_inline)) inline

// Thread-locals that the hot path reads. initial-exec makes a read one instruction also from inside the shared
// library; the price is some 300 bytes of the static TLS block when the library is loaded with dlopen.
#define FAIRLEAD_HOT_TLS __attribute__((tls_model("initial-exec")))

#if defined(__clang__)
#define FAIRLEAD_COMPILER_CLANG 1
// Clang has cached thread-local addresses across suspension points; a function that is not inlined reads anew.
#define FAIRLEAD_LIFETIMEBOUND [[clang::lifetimebound]]
/// Only for what cannot be otherwise: the compiler relies on it. `condition` must have no effects.
#define FAIRLEAD_ASSUME(condition) __builtin_assume(condition)
#else
#define FAIRLEAD_COMPILER_CLANG 0
#define FAIRLEAD_LIFETIMEBOUND
#define FAIRLEAD_ASSUME(condition) ((condition) ? static_cast<void>(0) : __builtin_unreachable())
#endif

#if defined(__SANITIZE_THREAD__)
#define FAIRLEAD_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAIRLEAD_TSAN 1
#endif
#endif
#ifndef FAIRLEAD_TSAN
#define FAIRLEAD_TSAN 0
#endif
