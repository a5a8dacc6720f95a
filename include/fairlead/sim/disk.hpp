// The files of a simulated host.
#pragma once

#include <fairlead/base/error.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::sim {

class network;
struct host_state;

/// The files that a host keeps when its process ends. A kill loses nothing. Of writes that were not synced, a crash
/// loses those that the seed chooses. A write may have arrived, in part or not at all, whether or not later ones have.
/// Names are kept at once, as in a journalling file system: a file that was renamed but never synced may be found
/// empty.
///
/// The library has no file operations of its own yet; a program reaches this through its own interface to files.
/// Every operation takes effect at once and takes no time. Fails where rule::disk_error and rule::disk_full say so.
class FAIRLEAD_EXPORT disk {
public:
    disk(disk const&) = delete;
    disk& operator=(disk const&) = delete;

    /// Writes over what is there, and beyond the end; creates the file. Nothing or all of it.
    error_code write(std::string_view path, std::uint64_t offset, std::string_view bytes);
    error_code append(std::string_view path, std::string_view bytes);
    /// Cuts it off or fills it up with zeros.
    error_code resize(std::string_view path, std::uint64_t size);
    /// The whole file.
    error_code read(std::string_view path, std::string& into) const;
    /// Earlier writes stay, whatever happens (fsync). After an error nobody knows which stayed, and repeating it does
    /// not bring them back, as on Linux.
    error_code sync(std::string_view path);
    /// Replaces what has the new name.
    error_code rename(std::string_view from, std::string_view to);
    error_code remove(std::string_view path);
    bool exists(std::string_view path) const noexcept;
    std::vector<std::string> names() const; ///< in alphabetical order
    /// Bytes of all files; more fails with ENOSPC.
    void capacity(std::uint64_t most) noexcept;

private:
    friend struct host_state;
    friend class world;
    struct file;
    explicit disk(network& n);
    ~disk();
    void lose_power();
    file* find(std::string_view path) const noexcept;
    error_code fits(std::uint64_t more) const noexcept;

    network& network_;
    std::vector<std::unique_ptr<file>> files_; ///< in alphabetical order
    std::uint64_t capacity_ = UINT64_MAX;
};

} // namespace fairlead::sim
