// How a session begins: what to send, what the answers mean. No sockets, no clock.
//
//   start() --> send HELLO 3 [AUTH][SETNAME], SELECT --> ready
//                     | the server knows no HELLO
//                     v
//               send AUTH, CLIENT SETNAME, SELECT ----> ready (RESP2)
//                     | anything refused
//                     v
//                   failed
#pragma once

#include <redis/shown.hpp>

#include <fairlead/redis/config.hpp>
#include <fairlead/redis/response.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead::redis::impl {

class greeting {
public:
    enum class action : unsigned char {
        send,   ///< payload(), then pass the replies() replies to on_reply(), then call next()
        ready,  ///< protocol() tells the version
        failed, ///< failure() tells why, server_text() how the server put it
    };

    /// `cfg` is read until ready or failed.
    action start(config const& cfg);
    action next();

    std::string_view payload() const noexcept { return payload_; }
    std::size_t replies() const noexcept { return replies_; }
    /// Of the commands sent, the reply to number `index`.
    void on_reply(std::size_t index, reply_view const& reply);

    resp3::version protocol() const noexcept { return protocol_; }
    error_code failure() const noexcept { return failure_; }
    std::string server_text() const { return text_.get(); } ///< any thread

private:
    enum class phase : unsigned char { hello, without_hello };

    template <class... Arguments> void add(Arguments const&... arguments);
    void on_hello(reply_view const& reply);
    void refused(error_code const& ec, std::string_view text);
    action begin_without_hello();

    config const* config_ = nullptr;
    phase phase_ = phase::hello;
    resp3::version protocol_ = resp3::version::resp3;
    std::string payload_;
    std::size_t replies_ = 0;
    std::size_t auth_at_ = 0; // index of AUTH, without HELLO
    bool hello_unknown_ = false;
    error_code failure_;
    shown_text text_;
};

} // namespace fairlead::redis::impl
