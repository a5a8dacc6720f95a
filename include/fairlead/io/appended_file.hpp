// A file of the system that only grows, line by line.
#pragma once

#include <fairlead/base/config.hpp>

#include <string_view>

namespace fairlead::io {

/// Any number of processes may append to the same one.
class appended_file {
public:
    appended_file() noexcept = default;
    appended_file(appended_file const&) = delete;
    appended_file& operator=(appended_file const&) = delete;
    FAIRLEAD_EXPORT ~appended_file();

    /// If it is not there, it is made, and only its owner may read it. Returns 0 or an errno value; the one before goes
    /// on then.
    FAIRLEAD_EXPORT int open(char const* path) noexcept;
    /// A line, whole, also while others write lines. Waits for the disk.
    FAIRLEAD_EXPORT void append(std::string_view line) const noexcept;

private:
    int fd_ = -1; ///< negative: none
};

} // namespace fairlead::io
