// Clients of the embedded server's engine that type their commands as lines.
#pragma once

#include <fairlead/redis_server/engine.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead::test {

/// One client that types its commands as lines and takes what it gets.
class typist {
public:
    explicit typist(redis::server_engine& engine) : client(engine, "127.0.0.1:1") {}

    std::string operator()(std::string_view line) {
        client.feed(std::string(line) + "\r\n");
        return take();
    }
    std::string take() { return std::exchange(client.output(), {}); }

    redis::server_engine::client client;
};

/// An engine whose clock the test moves, and a first client.
class server_test : public testing::Test {
protected:
    static redis::server_engine_options with(std::chrono::milliseconds const& now) {
        redis::server_engine_options options;
        options.clock = [&now] { return now; };
        return options;
    }
    std::chrono::milliseconds now_{1'700'000'000'000};
    redis::server_engine engine_{with(now_)};
    typist run{engine_};
};

inline constexpr std::string_view no_integer = "-ERR value is not an integer or out of range\r\n";
inline constexpr std::string_view wrong_type = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";

} // namespace fairlead::test
