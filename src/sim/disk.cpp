#include <fairlead/sim/disk.hpp>

#include "network.hpp"

#include <algorithm>

namespace fairlead::sim {
namespace {

error_code failed(std::errc e) noexcept { return fairlead::impl::base::code_of(e); }

struct change {
    std::uint64_t offset;
    std::string bytes;
    bool resizes; ///< to `offset`
};

void carry_out(std::string& to, change const& c) {
    if (c.resizes)
        return to.resize(c.offset);
    if (to.size() < c.offset + c.bytes.size())
        to.resize(c.offset + c.bytes.size());
    to.replace(c.offset, c.bytes.size(), c.bytes);
}

} // namespace

struct disk::file {
    std::string path;
    std::string bytes;  ///< as programs see it
    std::string synced; ///< what a crash leaves in any case
    std::vector<change> unsynced;

    void make(change c) {
        carry_out(bytes, c);
        unsynced.push_back(std::move(c));
    }
};

disk::disk(network& n) : network_(n) {}
disk::~disk() = default;

disk::file* disk::find(std::string_view path) const noexcept {
    auto const i = std::lower_bound(files_.begin(), files_.end(), path,
                                    [](auto const& f, std::string_view p) { return f->path < p; });
    return i != files_.end() && (*i)->path == path ? i->get() : nullptr;
}

error_code disk::fits(std::uint64_t more) const noexcept {
    std::uint64_t used = 0;
    for (auto const& f : files_)
        used += f->bytes.size();
    if (used + more > capacity_ || network_.faults.happens(rule::disk_full))
        return failed(std::errc::no_space_on_device);
    return {};
}

error_code disk::write(std::string_view path, std::uint64_t offset, std::string_view bytes) {
    file* f = find(path);
    auto const before = f ? f->bytes.size() : 0;
    auto const after = std::max<std::uint64_t>(before, offset + bytes.size());
    if (auto const ec = fits(after - before))
        return ec;
    if (network_.faults.happens(rule::disk_error))
        return failed(std::errc::io_error);
    if (!f) {
        auto const i = std::lower_bound(files_.begin(), files_.end(), path,
                                        [](auto const& each, std::string_view p) { return each->path < p; });
        f = files_.insert(i, std::make_unique<file>(file{std::string(path), {}, {}, {}}))->get();
    }
    f->make({offset, std::string(bytes), false});
    return {};
}

error_code disk::append(std::string_view path, std::string_view bytes) {
    file const* const f = find(path);
    return write(path, f ? f->bytes.size() : 0, bytes);
}

error_code disk::resize(std::string_view path, std::uint64_t size) {
    file* const f = find(path);
    if (!f)
        return failed(std::errc::no_such_file_or_directory);
    if (size > f->bytes.size())
        if (auto const ec = fits(size - f->bytes.size()))
            return ec;
    if (network_.faults.happens(rule::disk_error))
        return failed(std::errc::io_error);
    f->make({size, {}, true});
    return {};
}

error_code disk::read(std::string_view path, std::string& into) const {
    file const* const f = find(path);
    if (!f)
        return failed(std::errc::no_such_file_or_directory);
    if (network_.faults.happens(rule::disk_error))
        return failed(std::errc::io_error);
    into = f->bytes;
    return {};
}

error_code disk::sync(std::string_view path) {
    file* const f = find(path);
    if (!f)
        return failed(std::errc::no_such_file_or_directory);
    if (network_.faults.happens(rule::disk_error)) {
        // The pages are marked clean all the same: a second fsync says that all is well (see "fsyncgate", 2018).
        auto& stream = network_.faults.stream(rule::disk_error);
        for (auto const& c : f->unsynced)
            if (stream.below(2))
                carry_out(f->synced, c);
        f->unsynced.clear();
        return failed(std::errc::io_error);
    }
    f->synced = f->bytes;
    f->unsynced.clear();
    return {};
}

error_code disk::rename(std::string_view from, std::string_view to) {
    if (!find(from))
        return failed(std::errc::no_such_file_or_directory);
    if (from == to)
        return {};
    std::erase_if(files_, [&](auto const& f) { return f->path == to; });
    find(from)->path = to;
    std::sort(files_.begin(), files_.end(), [](auto const& a, auto const& b) { return a->path < b->path; });
    return {};
}

error_code disk::remove(std::string_view path) {
    if (!std::erase_if(files_, [&](auto const& f) { return f->path == path; }))
        return failed(std::errc::no_such_file_or_directory);
    return {};
}

bool disk::exists(std::string_view path) const noexcept { return find(path) != nullptr; }

std::vector<std::string> disk::names() const {
    std::vector<std::string> all;
    for (auto const& f : files_)
        all.push_back(f->path);
    return all;
}

void disk::capacity(std::uint64_t most) noexcept { capacity_ = most; }

void disk::lose_power() {
    auto& stream = network_.faults.stream(rule::disk_error);
    for (auto const& f : files_) {
        for (auto& c : f->unsynced) {
            auto const fate = stream.below(3);
            if (fate == 0)
                continue;
            if (fate == 1 && !c.resizes)
                c.bytes.resize(below(stream, c.bytes.size() + 1));
            carry_out(f->synced, c);
        }
        f->unsynced.clear();
        f->bytes = f->synced;
    }
}

} // namespace fairlead::sim
