// Names that stand for this computer on every computer.
#pragma once

#include <string_view>

namespace fairlead::io {

/// RFC 6761, section 6.3: "localhost" and every name below it are loopback addresses, and nobody is asked for them.
inline bool is_localhost(std::string_view name) noexcept {
    constexpr std::string_view last = "localhost";
    if (name.ends_with('.'))
        name.remove_suffix(1);
    if (name.size() < last.size())
        return false;
    auto const begin = name.size() - last.size();
    for (auto i = begin; i != name.size(); ++i) {
        char const c = name[i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != last[i - begin])
            return false;
    }
    return begin == 0 || (begin > 1 && name[begin - 1] == '.');
}

} // namespace fairlead::io
