// One connection of the program: commands out, replies in.
#pragma once

#include "options.hpp"

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/net/any_stream.hpp>
#include <fairlead/resp3/parser.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// The program ends with status 1, and says why.
struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class session {
public:
    /// Throws     failure: the server cannot be reached, or refuses the credentials or the database
    static fairlead::awaitable<session> open(options const& o);

    fairlead::awaitable<void> send(std::string_view bytes);
    fairlead::awaitable<void> send(std::vector<std::string> const& words);
    /// The next reply, or message that is none.
    fairlead::awaitable<reply> receive();
    /// Receives until the reply to one command; pushes before it are dropped.
    fairlead::awaitable<reply> receive_answer();

private:
    explicit session(fairlead::any_stream s) : stream_(std::move(s)) {}
    fairlead::awaitable<void> greet(options const& o);
    bool take_message(std::vector<owned_node>& nodes);

    fairlead::any_stream stream_;
    fairlead::resp3::parser parser_;
    std::string unread_;
    std::size_t consumed_ = 0;
};

} // namespace cli
