#include <fairlead/io/appended_file.hpp>

#include <cerrno>

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace fairlead::io {

appended_file::~appended_file() {
    if (fd_ >= 0)
        ::close(fd_);
}

int appended_file::open(char const* path) noexcept {
    constexpr mode_t only_mine = 0600;
    int const fd = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, only_mine);
    if (fd < 0)
        return errno;
    if (fd_ >= 0)
        ::close(fd_);
    fd_ = fd;
    return 0;
}

void appended_file::append(std::string_view line) const noexcept {
    char line_end = '\n';
    iovec const parts[] = {{const_cast<char*>(line.data()), line.size()}, {&line_end, 1}};
    while (fd_ >= 0 && ::writev(fd_, parts, 2) < 0 && errno == EINTR) {
    }
}

} // namespace fairlead::io
