#include <redis/sha1.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fairlead::redis::impl {
namespace {

constexpr std::size_t block_bytes = 64;

class sha1_state {
public:
    void take(unsigned char const* block) noexcept {
        std::array<std::uint32_t, 80> w;
        for (std::size_t i = 0; i != 16; ++i)
            w[i] = static_cast<std::uint32_t>(block[4 * i]) << 24 | static_cast<std::uint32_t>(block[4 * i + 1]) << 16 |
                   static_cast<std::uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
        for (std::size_t i = 16; i != 80; ++i)
            w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        auto [a, b, c, d, e] = h_;
        for (std::size_t i = 0; i != 80; ++i) {
            auto const f = i < 20   ? (b & c) | (~b & d)
                           : i < 40 ? b ^ c ^ d
                           : i < 60 ? (b & c) | (b & d) | (c & d)
                                    : b ^ c ^ d;
            constexpr std::uint32_t of_round[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
            auto const next = std::rotl(a, 5) + f + e + w[i] + of_round[i / 20];
            e = d;
            d = c;
            c = std::rotl(b, 30);
            b = a;
            a = next;
        }
        h_[0] += a;
        h_[1] += b;
        h_[2] += c;
        h_[3] += d;
        h_[4] += e;
    }
    std::array<char, 40> digits() const noexcept {
        std::array<char, 40> text;
        for (std::size_t i = 0; i != text.size(); ++i)
            text[i] = "0123456789abcdef"[h_[i / 8] >> (28 - i % 8 * 4) & 0xf];
        return text;
    }

private:
    std::array<std::uint32_t, 5> h_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
};

} // namespace

std::array<char, 40> sha1_of(std::string_view text) noexcept {
    sha1_state state;
    auto const* at = reinterpret_cast<unsigned char const*>(text.data());
    auto left = text.size();
    for (; left >= block_bytes; left -= block_bytes, at += block_bytes)
        state.take(at);

    // The rest, a one, zeros, and the length in bits: one block, or two when the length finds no room.
    std::array<unsigned char, 2 * block_bytes> tail{};
    if (left != 0)
        std::memcpy(tail.data(), at, left);
    tail[left] = 0x80;
    std::size_t const end = left + 1 + 8 <= block_bytes ? block_bytes : 2 * block_bytes;
    auto bits = static_cast<std::uint64_t>(text.size()) * 8;
    for (std::size_t i = end; i != end - 8; bits >>= 8)
        tail[--i] = static_cast<unsigned char>(bits);
    state.take(tail.data());
    if (end != block_bytes)
        state.take(tail.data() + block_bytes);
    return state.digits();
}

} // namespace fairlead::redis::impl
