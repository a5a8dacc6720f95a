#include <fairlead/redis/cmd/geo.hpp>

#include <utility>

namespace fairlead::redis {

error_code from_reply(reply_reader& in, geo_position& position) {
    std::pair<double, double> both;
    auto const ec = in.read(both);
    position = {both.first, both.second};
    return ec;
}

// Behind the member stand a text, a number and an array, as far as they were asked for.
error_code from_reply(reply_reader& in, geo_match& match) {
    match = {};
    error_code ec;
    auto const parts = impl::enter_sequence(in, ec);
    if (!ec && parts == 0)
        ec = error::incompatible_type;
    if (!ec)
        ec = in.read(match.member);
    for (std::size_t i = 1; i < parts && !ec; ++i) {
        auto const kind = in.peek().kind;
        if (resp3::is_aggregate(kind))
            ec = in.read(match.position);
        else if (kind == resp3::type::number)
            ec = in.read(match.hash);
        else
            ec = in.read(match.distance);
    }
    return ec;
}

} // namespace fairlead::redis
