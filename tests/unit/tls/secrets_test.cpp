// Row L17: secrets are in no log, and not in a core after their use. A core has what the memory of the process has.
#include <unit/tls/pair.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <unistd.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;

constexpr char mask = 0x5a;

/// Bytes that this process has nowhere else but where somebody has left them: here they are masked.
struct masked {
    std::vector<char> bytes;

    static masked of(void const* from, std::size_t n) {
        masked m;
        for (std::size_t i = 0; i != n; ++i)
            m.bytes.push_back(static_cast<char>(static_cast<char const*>(from)[i] ^ mask));
        return m;
    }
    /// For a short time.
    std::string plain() const {
        std::string s(bytes.size(), ' ');
        for (std::size_t i = 0; i != s.size(); ++i)
            s[i] = static_cast<char>(bytes[i] ^ mask);
        return s;
    }
};
[[gnu::noinline]] void wipe(std::string& s) {
    OPENSSL_cleanse(s.data(), s.size());
    s.clear();
}

/// How often memory that can be written has these bytes. It is read as another process would.
int count_in_memory(masked const& wanted) {
    std::ifstream maps("/proc/self/maps");
    int const memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    EXPECT_GE(memory, 0);
    static std::vector<char> part(1 << 20);
    int found = 0;
    auto const n = wanted.bytes.size();
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin = 0, end = 0;
        char rights[5];
        if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3 || rights[1] != 'w' ||
            end - begin > (1UL << 30)) // shadows of sanitizers
            continue;
        auto const own = reinterpret_cast<std::uintptr_t>(part.data());
        for (auto at = begin; at < end; at += part.size() - n) {
            if (at <= own + part.size() && own <= at + part.size())
                continue; // the copies that are made here
            auto const size =
                ::pread(memory, part.data(), std::min<std::size_t>(part.size(), end - at), static_cast<off_t>(at));
            for (ssize_t i = 0; i + static_cast<ssize_t>(n) <= size; ++i) {
                std::size_t same = 0;
                while (same != n &&
                       part[static_cast<std::size_t>(i) + same] == static_cast<char>(wanted.bytes[same] ^ mask))
                    ++same;
                found += same == n;
            }
        }
    }
    ::close(memory);
    std::fill(part.begin(), part.end(), '\0');
    return found;
}

class TlsSecrets : public testing::Test {
public:
    void SetUp() override {
        std::ifstream maps("/proc/self/maps");
        std::size_t all = 0;
        for (std::string line; std::getline(maps, line);) {
            unsigned long begin = 0, end = 0;
            if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2)
                all += end - begin;
        }
        if (all > 1UL << 36)
            GTEST_SKIP() << "a sanitizer has memory without end";
    }
    io_context context;
};

TEST_F(TlsSecrets, L17_MemoryIsLookedThrough) {
    char in_use[40];
    for (int i = 0; i != 40; ++i)
        in_use[i] = static_cast<char>('A' + i * 7 % 26);
    auto const wanted = masked::of(in_use, sizeof in_use);
    EXPECT_GE(count_in_memory(wanted), 1) << "a test that finds nothing shows nothing";
    OPENSSL_cleanse(in_use, sizeof in_use);
    EXPECT_EQ(count_in_memory(wanted), 0);
}

TEST_F(TlsSecrets, L17_APasswordIsGoneOnceItWasUsed) {
    for (std::size_t const size : {std::size_t{13}, std::size_t{90}}) { // inside of a string, and in its memory
        masked password;
        for (std::size_t i = 0; i != size; ++i)
            password.bytes.push_back(static_cast<char>(('a' + static_cast<char>((i * 11 + size) % 26)) ^ mask));
        std::string encrypted;
        {
            auto* const from = BIO_new_mem_buf(server().key.data(), static_cast<int>(server().key.size()));
            EVP_PKEY* const key = PEM_read_bio_PrivateKey(from, nullptr, nullptr, nullptr);
            auto* const to = BIO_new(BIO_s_mem());
            auto plain = password.plain();
            PEM_write_bio_PKCS8PrivateKey(to, key, EVP_aes_128_cbc(), plain.data(), static_cast<int>(plain.size()),
                                          nullptr, nullptr);
            wipe(plain);
            char* data = nullptr;
            auto const n = BIO_get_mem_data(to, &data);
            encrypted.assign(data, static_cast<std::size_t>(n));
            BIO_free(from);
            BIO_free(to);
            EVP_PKEY_free(key);
        }
        EXPECT_EQ(count_in_memory(password), 0) << "the test itself has left it";
        ssl::context c(ssl::context::tls_server);
        c.set_password_callback([&password](std::size_t, ssl::context::password_purpose) { return password.plain(); });
        c.use_certificate_chain(buffer(server().certificate));
        c.use_private_key(buffer(encrypted), ssl::context::pem);
        EXPECT_EQ(count_in_memory(password), 0) << size;
    }
}

/// The keys of a connection are gone when its streams are, and no message has them.
TEST_F(TlsSecrets, L17_KeysGoWithTheConnectionAndIntoNoLog) {
    struct named {
        std::string name;
        masked secret;
    };
    static std::vector<named> secrets;
    secrets.clear();
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    for (auto const method : {ssl::context::tlsv12_client, ssl::context::tlsv13_client}) {
        tls_pair p(context, client_context(method), server_context());
        // OpenSSL writes "CLIENT_RANDOM <32 bytes> <secret>".
        SSL_CTX_set_keylog_callback(p.of_client.native_handle(), [](SSL const*, char const* line) {
            std::string_view const all(line);
            for (auto i = all.rfind(' ') + 1; i + 1 < all.size(); i += 2) {
                if (i == all.rfind(' ') + 1)
                    secrets.push_back({std::string(all.substr(0, all.find(' '))), {}});
                auto const digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
                secrets.back().secret.bytes.push_back(
                    static_cast<char>((digit(all[i]) * 16 + digit(all[i + 1])) ^ mask));
            }
        });
        run_through(context, [&]() -> awaitable<void> {
            auto const [of_c, of_s] = co_await p.shake_hands();
            EXPECT_FALSE(of_c) << of_c.message();
            EXPECT_FALSE(of_s);
            co_await async_write(p.client, buffer("text", 4));
            char got[4];
            co_await async_read(p.server, buffer(got));
            co_await async_write(p.client.next_layer(), buffer("no record at all", 16));
            error_code ec;
            auto reading = p.server.async_read_some(buffer(got), redirect_error(ec));
            co_await std::move(reading);
            std::fprintf(stderr, "%s\n", ec.message().c_str()); // as programs do
        });
    }
    auto const said = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
    ASSERT_GE(secrets.size(), 6U);
    for (auto const& each : secrets) {
        auto plain = each.secret.plain();
        EXPECT_EQ(said.find(plain), said.npos);
        wipe(plain);
        // OpenSSL 3 leaves three in the memory of an SSL that it frees. Nobody else can reach them there.
        bool const is_left = each.name == "CLIENT_TRAFFIC_SECRET_0" || each.name == "SERVER_TRAFFIC_SECRET_0" ||
                             each.name == "EXPORTER_SECRET";
        EXPECT_LE(count_in_memory(each.secret), is_left ? 2 : 0) << each.name; // one for each end
    }
}

} // namespace
