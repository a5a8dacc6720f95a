// Version, visibility and the few compiler differences. The only file that asks which compiler this is.
#pragma once

/// The version of these headers. A change of the major version breaks programs.
#define FAIRLEAD_VERSION_MAJOR 0
/// A change of the minor version adds something; before 1.0 it may break programs, too.
#define FAIRLEAD_VERSION_MINOR 1
/// A change of the patch version corrects something.
#define FAIRLEAD_VERSION_PATCH 0

#define FAIRLEAD_EXPORT __attribute__((visibility("default")))
#define FAIRLEAD_NOINLINE __attribute__((noinline))
#define FAIRLEAD_COLD __attribute__((noinline, cold))
/// Without optimisation a copy in each caller would take longer to compile, and is no help to a debugger.
#ifdef __OPTIMIZE__
#define FAIRLEAD_ALWAYS_INLINE __attribute__((always_inline)) inline
#else
#define FAIRLEAD_ALWAYS_INLINE inline
#endif

// Thread-locals that the hot path reads. With initial-exec a read is one instruction, also inside the shared library.
// The price is some 400 bytes of the static TLS block when the library is loaded with dlopen.
#define FAIRLEAD_HOT_TLS __attribute__((tls_model("initial-exec")))

/// Chooses the error_code of the library: 0 the standard library's, 1 that of Boost.System, for programs that have it
/// in their interfaces. The CMake option of this name sets it for the library and for all that link it. If the two
/// differ, the program does not link: most functions have the type in their names.
#ifndef FAIRLEAD_BOOST_ERROR_CODE
#define FAIRLEAD_BOOST_ERROR_CODE 0
#endif

#if defined(__clang__)
#define FAIRLEAD_COMPILER_CLANG 1
// Clang has cached thread-local addresses across suspension points; a function that is not inlined reads anew.
#define FAIRLEAD_LIFETIMEBOUND [[clang::lifetimebound]]
/// Of a class that refers to memory which something else owns: the compiler warns where that goes first.
#define FAIRLEAD_VIEW [[gsl::Pointer(void)]]
#else
#define FAIRLEAD_COMPILER_CLANG 0
#define FAIRLEAD_LIFETIMEBOUND
#define FAIRLEAD_VIEW
#endif

/// For a function that is rarely called and does not throw. A call of it leaves all registers alone, so the common way
/// has none to save. The convention differs between compilers, and each object file has its own copy.
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define FAIRLEAD_RARELY_CALLED [[clang::preserve_most, clang::internal_linkage]] FAIRLEAD_NOINLINE
#else
#define FAIRLEAD_RARELY_CALLED
#endif

/// Of an overload for arguments that are a known mistake: whoever calls it is told so, at the call, in one sentence. A
/// deleted function would be reported with all its candidates, and has no sentence.
#define FAIRLEAD_REFUSED(sentence) __attribute__((unavailable(sentence)))

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
