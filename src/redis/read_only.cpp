#include <redis/read_only.hpp>

#include <redis/command_table.hpp>
#include <redis/commands.hpp>

namespace fairlead::redis::impl {

bool only_reads(request const& r) noexcept {
    for (auto bytes = r.payload(); !bytes.empty();) {
        arguments_of words(bytes);
        auto const name = words.next();
        auto const* known = facts_of(name);
        if (known && is_container(*known) && words.left() != 0)
            known = facts_of(name, words.next());
        if (!known || !is_read_only(*known))
            return false;
        // "$" is what comes from now on: a second time it would leave out what came since the first.
        for (bool const is_of_stream = equals_capitals(name, "XREAD"); words.left() != 0;)
            if (words.next() == "$" && is_of_stream)
                return false;
        bytes = words.rest();
    }
    return true;
}

} // namespace fairlead::redis::impl
