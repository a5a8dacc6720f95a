// The names of functions, for reports on a program that runs.
//
// The dynamic linker knows exported functions only, and a coroutine's is never exported. So the table of symbols in
// the program's file is read, unless it has been stripped.
#pragma once

#include <fairlead/base/config.hpp>

#include <memory>
#include <string>

namespace fairlead::impl::exec {

/// Made for one report: it reads each file once, and keeps what it has read.
class function_names {
public:
    FAIRLEAD_EXPORT function_names() noexcept;
    FAIRLEAD_EXPORT ~function_names();

    /// The function that `code` lies in, without its parameters. place_of() in place of one that has no symbol.
    FAIRLEAD_EXPORT std::string of(void const* code);
    /// Where `code` lies, as "file+0xoffset": the program or library, and the number that addr2line wants of it.
    FAIRLEAD_EXPORT static std::string place_of(void const* code);

private:
    class file;
    std::unique_ptr<file> files_; ///< a list
};

} // namespace fairlead::impl::exec
