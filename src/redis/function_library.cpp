#include <fairlead/redis/cmd/functions.hpp>

#include <redis/reply_fields.hpp>

namespace fairlead::redis {

namespace {

/// Of the description of a function its name; the rest is passed over.
error_code read_name(reply_reader& in, std::string& into) {
    return impl::read_fields(in, [&](std::string const& field, error_code& ec) {
        if (field != "name")
            return false;
        ec = in.read(into);
        return true;
    });
}

error_code read_names(reply_reader& in, std::vector<std::string>& into) {
    error_code ec;
    auto const functions = impl::enter_sequence(in, ec);
    for (std::size_t i = 0; i != functions && !ec; ++i)
        ec = read_name(in, into.emplace_back());
    return ec;
}

} // namespace

error_code from_reply(reply_reader& in, function_library& library) {
    library = {};
    return impl::read_fields(in, [&](std::string const& field, error_code& ec) {
        if (field == "library_name")
            ec = in.read(library.name);
        else if (field == "engine")
            ec = in.read(library.engine);
        else if (field == "functions")
            ec = read_names(in, library.functions);
        else
            return false;
        return true;
    });
}

} // namespace fairlead::redis
