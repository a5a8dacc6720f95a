// A new folder for the files of one test, which goes with its object.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace fairlead::test {

struct scratch_folder {
    scratch_folder() {
        auto name = (std::filesystem::temp_directory_path() / "fairlead_test_XXXXXX").string();
        if (!::mkdtemp(name.data()))
            throw std::system_error(errno, std::generic_category(), "mkdtemp");
        path = name;
    }
    scratch_folder(scratch_folder const&) = delete;
    scratch_folder& operator=(scratch_folder const&) = delete;
    ~scratch_folder() {
        std::error_code ignored; // A folder that stays is no reason to fail.
        std::filesystem::remove_all(path, ignored);
    }
    std::string path;
};

} // namespace fairlead::test
