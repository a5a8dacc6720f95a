// Any bytes and any order of steps, to two engines that talk to each other. An engine that has failed stays so. One
// that wants input has taken all that it had. The plain bytes that it gives are the first of those that its peer has
// taken.
#include <sim/tls_chance.hpp>

#include <tls/engine.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using ssl::impl::engine;
using ssl::impl::lent_memory;
using ssl::impl::progress;

void expect(bool good, char const* otherwise) {
    if (good)
        return;
    std::fprintf(stderr, "%s\n", otherwise);
    std::abort();
}

ssl::context& context_of(bool is_client, bool is_old) {
    auto const make = [](bool client, int version) {
        auto c = test::tls_script::scripted_context(client, version);
        if (client)
            c.keep_sessions(0);
        SSL_CTX_set_session_cache_mode(c.native_handle(), SSL_SESS_CACHE_OFF); // A run leaves nothing to the next one.
        return c;
    };
    static ssl::context all[] = {make(false, TLS1_3_VERSION), make(false, TLS1_2_VERSION), make(true, TLS1_3_VERSION),
                                 make(true, TLS1_2_VERSION)};
    return all[2 * is_client + is_old];
}

/// One of the two.
struct side {
    engine e;
    bool is_client, is_old;
    std::uint64_t written = 0, read = 0;
    bool says_goodbye = false;
    error_code failure{};

    side(bool client, bool old) : e(context_of(client, old)), is_client(client), is_old(old) {
        if (client)
            e.set_host_name("server.test");
    }
    char byte_at(std::uint64_t i) const noexcept { return static_cast<char>(i * 131 + (is_client ? 7 : 0) + (i >> 8)); }
    progress judge(progress p) {
        expect((p == progress::failed) == static_cast<bool>(e.failure()),
               "it fails without a reason, or goes on with one");
        expect(!failure || failure == e.failure(), "it fails for another reason than before");
        expect(p != progress::wants_input || e.input.empty(), "it wants input and has some");
        expect(p != progress::wants_output || !e.output.empty(), "it wants to be rid of output and has none");
        expect(e.input.size() <= lent_memory::capacity && e.output.size() <= lent_memory::capacity, "too many bytes");
        failure = e.failure();
        return p;
    }
    progress handshake() { return judge(e.handshake(is_client)); }
    progress shutdown() {
        says_goodbye = true;
        return judge(e.shutdown());
    }
    void write(std::size_t size) {
        std::string text(size, ' ');
        for (std::size_t i = 0; i != size; ++i)
            text[i] = byte_at(written + i);
        std::size_t n = size + 1;
        auto const p = judge(e.write(text.data(), size, n));
        expect(n <= size && (p == progress::done || n == 0), "a write has taken what it may not");
        written += n;
    }
    /// No client has a session that allows some.
    void read_early(std::size_t size) {
        if (is_client)
            return;
        std::vector<char> into(size + 1);
        std::size_t n = size + 1;
        auto const p = judge(e.read_early(into.data(), into.size(), n));
        expect(p != progress::done && n == 0, "early data of nobody");
    }
    void read_from(side const& peer, std::size_t size) {
        std::vector<char> into(size);
        std::size_t n = size + 1;
        auto const p = judge(e.read(into.data(), size, n));
        expect(n <= size && (p == progress::done || n == 0), "a read has given what it may not");
        for (std::size_t i = 0; i != n; ++i)
            expect(into[i] == peer.byte_at(read + i), "bytes that nobody has sent there");
        read += n;
        expect(read <= peer.written, "more than was sent");
        bool const is_answered = is_old && says_goodbye; // With TLS 1.2 the peer does so by itself.
        expect(p != progress::closed || peer.says_goodbye || is_answered, "an end without a goodbye");
    }
};

class steps {
public:
    explicit steps(std::span<std::uint8_t const> left)
        : left_(left),
          sides_{side(true, next() % 2), side(false, old_)} {}
    void run() {
        for (int i = 0; !left_.empty() && i != 200; ++i)
            step();
        for (auto& s : sides_) { // All of it can be given back at any time.
            s.e.input.give_back();
            s.e.output.give_back();
            expect(s.e.input.empty() && s.e.output.empty(), "bytes in memory that was given back");
        }
    }

private:
    std::uint8_t next() {
        if (left_.empty())
            return 0;
        auto const b = left_.front();
        left_ = left_.subspan(1);
        old_ = b % 2;
        return b;
    }
    std::size_t size() {
        constexpr std::size_t sizes[] = {0, 1, 5, 100, 16'383, 16'384, 16'385, 70'000};
        auto const b = next();
        return b < 8 ? sizes[b] : b;
    }
    void step() {
        auto const what = next();
        auto &s = sides_[what >> 7], &peer = sides_[1 - (what >> 7)];
        switch (what % 16) {
        case 0: s.handshake(); return;
        case 1: s.read_from(peer, size()); return;
        case 2: s.write(size()); return;
        case 3: s.shutdown(); return;
        case 4: deliver(s, peer, std::size_t(next()) + 1); return;
        case 5: deliver(s, peer, lent_memory::capacity); return;
        case 6:
            if (!s.e.output.empty())
                s.e.output.data()[next() % s.e.output.size()] ^= std::byte{next()};
            return;
        case 7: inject(s); return;
        case 8: s.e.input_ended = true; return;
        case 9: SSL_key_update(s.e.native_handle(), next() % 2); return;
        case 10: meet(); return;
        case 11: s.e.output.consume(std::min<std::size_t>(next(), s.e.output.size())); return;
        case 12: s.read_early(size()); return;
        default: s.read_from(peer, 1000); return;
        }
    }
    /// Bytes of the input as they are.
    void inject(side& s) {
        auto const n = std::min<std::size_t>({next(), left_.size(), s.e.input.space_left()});
        if (n != 0)
            expect(s.e.input.put(left_.data(), n), "no memory");
        left_ = left_.subspan(n);
    }
    static void deliver(side& from, side& to, std::size_t most) {
        auto const n = std::min({most, from.e.output.size(), to.e.input.space_left()});
        if (n == 0)
            return;
        expect(to.e.input.put(from.e.output.data(), n), "no memory");
        from.e.output.consume(n);
    }
    void meet() {
        for (int i = 0; i != 6; ++i)
            for (auto& s : sides_) {
                s.handshake();
                deliver(s, sides_[&s == &sides_[0]], lent_memory::capacity);
            }
    }

    std::span<std::uint8_t const> left_;
    bool old_ = false;
    side sides_[2];
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    test::tls_script::openssl_chance const chance(1);
    steps s({data, size});
    s.run();
    return 0;
}
