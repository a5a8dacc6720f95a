#include <fairlead/redis/cmd/functions.hpp>

namespace fairlead::redis {

namespace {

/// Of the description of a function its name; the rest is passed over.
error_code read_name(reply_reader& in, std::string& into) {
    error_code ec;
    auto const fields = impl::enter_map(in, ec);
    std::string field;
    for (std::size_t i = 0; i != fields && !ec; ++i) {
        ec = in.read(field);
        if (!ec && field == "name")
            ec = in.read(into);
        else if (!ec)
            in.skip();
    }
    return ec;
}

} // namespace

error_code from_reply(reply_reader& in, function_library& library) {
    library = {};
    error_code ec;
    auto const fields = impl::enter_map(in, ec);
    std::string field;
    for (std::size_t i = 0; i != fields && !ec; ++i) {
        ec = in.read(field);
        if (ec)
            break;
        if (field == "library_name") {
            ec = in.read(library.name);
        } else if (field == "engine") {
            ec = in.read(library.engine);
        } else if (field == "functions") {
            auto const functions = impl::enter_sequence(in, ec);
            for (std::size_t j = 0; j != functions && !ec; ++j)
                ec = read_name(in, library.functions.emplace_back());
        } else {
            in.skip();
        }
    }
    return ec;
}

} // namespace fairlead::redis
