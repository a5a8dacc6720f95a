// recv(2) and send(2) that are no points of cancellation.
//
// glibc lets pthread_cancel(3) end a thread inside them. The functions around them are noexcept, so that would end the
// process. In a process with several threads each call also takes some 35 instructions more for it, a tenth of our part
// of an echoed message. These calls never wait, so a request that comes meanwhile is not kept waiting either.
#pragma once

#include <cerrno>
#include <cstddef>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAIRLEAD_CALLS_ARE_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define FAIRLEAD_CALLS_ARE_WATCHED 1
#endif
#endif

namespace fairlead::io::posix {

#if defined(__x86_64__) && !defined(__ILP32__) && !defined(FAIRLEAD_CALLS_ARE_WATCHED)

/// As the functions of the system: -1 with errno for a failure.
inline ssize_t transfer_call(long number, int fd, void const* data, std::size_t size, int flags) noexcept {
    long result;
    register long fourth asm("r10") = flags;
    register long fifth asm("r8") = 0;
    register long sixth asm("r9") = 0;
    asm volatile("syscall"
                 : "=a"(result)
                 : "0"(number), "D"(long{fd}), "S"(data), "d"(size), "r"(fourth), "r"(fifth), "r"(sixth)
                 : "rcx", "r11", "memory");
    if (result < 0) [[unlikely]] {
        errno = static_cast<int>(-result);
        return -1;
    }
    return result;
}
inline ssize_t receive_call(int fd, void* data, std::size_t size, int flags) noexcept {
    return transfer_call(SYS_recvfrom, fd, data, size, flags);
}
inline ssize_t send_call(int fd, void const* data, std::size_t size, int flags) noexcept {
    return transfer_call(SYS_sendto, fd, data, size, flags);
}

#else // A sanitizer looks at the calls of the library of C.

inline ssize_t receive_call(int fd, void* data, std::size_t size, int flags) noexcept {
    return ::recv(fd, data, size, flags);
}
inline ssize_t send_call(int fd, void const* data, std::size_t size, int flags) noexcept {
    return ::send(fd, data, size, flags);
}

#endif

} // namespace fairlead::io::posix
