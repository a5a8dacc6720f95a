// The message of an error that an operation on a stream throws in the calling thread.
#pragma once

#include <fairlead/base/error.hpp>

#include <string>

namespace fairlead::impl::stream {

/// Streams that end in a socket whose endpoints have texts.
template <class Stream>
concept ends_in_a_socket = requires(Stream& s, error_code& ec, std::string& text) {
    text = s.lowest_layer().remote_endpoint(ec).to_string();
    text = s.lowest_layer().local_endpoint(ec).to_string();
};

/// "read from 127.0.0.1:80" with `what` "read" and `preposition` "from". A socket that knows no peer says where it is
/// itself, as it does of its own reads.
template <class Stream> [[noreturn]] FAIRLEAD_COLD void throw_stream_error(error_code const& ec,
                                                                           [[maybe_unused]] Stream& s, char const* what,
                                                                           [[maybe_unused]] char const* preposition) {
    std::string text(what);
    if constexpr (ends_in_a_socket<Stream>) {
        error_code unnamed;
        auto const peer = s.lowest_layer().remote_endpoint(unnamed).to_string();
        if (!unnamed && !peer.empty()) {
            text.append(" ").append(preposition).append(" ").append(peer);
        } else {
            auto const own = s.lowest_layer().local_endpoint(unnamed).to_string();
            if (!unnamed && !own.empty())
                text.append(" on ").append(own);
        }
    }
    base::throw_error_now(ec, text.c_str());
}

} // namespace fairlead::impl::stream
