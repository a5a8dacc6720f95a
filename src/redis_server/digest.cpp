// SHA-1 and SHA-256 of FIPS 180-4: the library must not need OpenSSL for the names of scripts.
#include <redis_server/digest.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace fairlead::redis::server_impl {
namespace {

constexpr std::size_t digest_block_bytes = 64;

// The bytes, a one bit, zeros, and the number of bits in the last eight bytes of a block.
std::string padded(std::string_view bytes) {
    std::string text(bytes);
    text += '\x80';
    while (text.size() % digest_block_bytes != digest_block_bytes - 8)
        text += '\0';
    std::uint64_t const bits = bytes.size() * 8;
    for (int shift = 56; shift >= 0; shift -= 8)
        text += static_cast<char>(bits >> shift);
    return text;
}

std::uint32_t word_at(std::string_view text, std::size_t at) noexcept {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i != 4; ++i)
        word = word << 8 | static_cast<unsigned char>(text[at + i]);
    return word;
}

template <std::size_t N> std::string hexadecimal(std::array<std::uint32_t, N> const& words) {
    std::string text;
    for (std::uint32_t const word : words)
        for (int shift = 28; shift >= 0; shift -= 4)
            text += "0123456789abcdef"[word >> shift & 15];
    return text;
}

constexpr std::array<std::uint32_t, 64> sha256_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

} // namespace

std::string sha1(std::string_view bytes) {
    std::array<std::uint32_t, 5> state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    std::string const text = padded(bytes);
    for (std::size_t block = 0; block != text.size(); block += digest_block_bytes) {
        std::array<std::uint32_t, 80> w{};
        for (std::size_t i = 0; i != 16; ++i)
            w[i] = word_at(text, block + 4 * i);
        for (std::size_t i = 16; i != w.size(); ++i)
            w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        auto [a, b, c, d, e] = state;
        for (std::size_t i = 0; i != w.size(); ++i) {
            std::uint32_t f = 0, k = 0;
            if (i < 20) {
                f = (b & c) | (~b & d);
                k = 0x5a827999;
            } else if (i < 40) {
                f = b ^ c ^ d;
                k = 0x6ed9eba1;
            } else if (i < 60) {
                f = (b & c) | (b & d) | (c & d);
                k = 0x8f1bbcdc;
            } else {
                f = b ^ c ^ d;
                k = 0xca62c1d6;
            }
            std::uint32_t const next = std::rotl(a, 5) + f + e + k + w[i];
            e = d;
            d = c;
            c = std::rotl(b, 30);
            b = a;
            a = next;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
    }
    return hexadecimal(state);
}

std::string sha256(std::string_view bytes) {
    std::array<std::uint32_t, 8> state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::string const text = padded(bytes);
    for (std::size_t block = 0; block != text.size(); block += digest_block_bytes) {
        std::array<std::uint32_t, 64> w{};
        for (std::size_t i = 0; i != 16; ++i)
            w[i] = word_at(text, block + 4 * i);
        for (std::size_t i = 16; i != w.size(); ++i) {
            std::uint32_t const s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
            std::uint32_t const s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        auto v = state;
        for (std::size_t i = 0; i != w.size(); ++i) {
            std::uint32_t const s1 = std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25);
            std::uint32_t const chosen = (v[4] & v[5]) ^ (~v[4] & v[6]);
            std::uint32_t const t1 = v[7] + s1 + chosen + sha256_constants[i] + w[i];
            std::uint32_t const s0 = std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22);
            std::uint32_t const majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v = {t1 + s0 + majority, v[0], v[1], v[2], v[3] + t1, v[4], v[5], v[6]};
        }
        for (std::size_t i = 0; i != state.size(); ++i)
            state[i] += v[i];
    }
    return hexadecimal(state);
}

} // namespace fairlead::redis::server_impl
