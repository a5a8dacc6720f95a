// Runs a parser over bytes as a client would, cut into reads anywhere, and tells what came out. Shared with the fuzzer.
#pragma once

#include <fairlead/resp3/parser.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::test {

/// A node that owns its text.
struct event {
    resp3::type kind{};
    std::string value;
    std::uint64_t size = 0;
    std::uint32_t depth = 0;
    bool in_attribute = false;
    bool last = false;
    std::string format;

    friend bool operator==(event const&, event const&) = default;
    friend std::ostream& operator<<(std::ostream& out, event const& e) {
        return out << std::string(e.depth * 2, ' ') << resp3::to_string(e.kind) << " '" << resp3::printable(e.value)
                   << "' size=" << e.size << (e.in_attribute ? " in_attribute" : "") << (e.last ? " last" : "")
                   << (e.format.empty() ? "" : " format=") << e.format;
    }
};

inline event to_event(resp3::node const& n) {
    event e{.kind = n.kind,
            .value = std::string(n.value),
            .size = n.size,
            .depth = n.depth,
            .in_attribute = n.in_attribute,
            .last = n.last,
            .format = {}};
    if (n.format[0] != '\0')
        e.format.assign(n.format.data(), n.format.size());
    return e;
}

struct parse_result {
    std::vector<event> events;
    error_code ec;
    std::size_t consumed = 0;
    bool is_idle = true;
    std::string broken_promise; ///< A statement of the parser about its own progress that it did not keep.

    friend bool operator==(parse_result const&, parse_result const&) = default;
    friend std::ostream& operator<<(std::ostream& out, parse_result const& r) {
        for (auto const& e : r.events)
            out << e << '\n';
        return out << "consumed " << r.consumed << ", " << (r.is_idle ? "idle" : "within a message") << ", "
                   << (r.ec ? r.ec.message() : "no error") << ' ' << r.broken_promise << '\n';
    }
};

/// The ends of the reads: ascending, the last one is the size of the input.
using cuts = std::vector<std::size_t>;

inline cuts whole(std::string_view input) { return {input.size()}; }
inline cuts every(std::size_t bytes, std::string_view input) {
    cuts ends;
    for (std::size_t at = bytes; at < input.size(); at += bytes)
        ends.push_back(at);
    ends.push_back(input.size());
    return ends;
}

/// For parse_in_pieces(): no body is claimed.
inline constexpr std::uint64_t claim_none = UINT64_MAX;

/// The nodes that stand for a push of texts.
inline void append_events(std::vector<event>& to, resp3::text_push const& push) {
    to.push_back({.kind = resp3::type::push, .value = {}, .size = push.size, .format = {}});
    for (std::size_t i = 0; i != push.size; ++i)
        to.push_back({.kind = resp3::type::blob_string,
                      .value = std::string(push.texts[i]),
                      .depth = 1,
                      .last = i + 1 == push.size,
                      .format = {}});
}

/// Each read gets memory of its own that holds nothing but the unread bytes. So a sanitizer sees a view that is too
/// long or too old. Bodies of `claim_min` bytes or more that are not all there are claimed, as a client does with large
/// ones. With `texts_at_once` take_text_pushes() comes first each time. The result is to be the same.
inline parse_result parse_in_pieces(std::string_view input, cuts const& ends, resp3::limits const& bounds = {},
                                    std::size_t batch_size = 8, std::uint64_t claim_min = claim_none,
                                    std::size_t texts_at_once = 0) {
    parse_result result;
    resp3::parser parser(bounds);
    std::vector<resp3::node> batch(batch_size);
    std::vector<resp3::text_push> texts(texts_at_once);
    std::uint64_t promised = 0; // no node before so many bytes were received
    struct {
        bool is_open = false; // its node has not come
        std::size_t begin = 0;
        std::size_t size = 0;
        std::size_t left = 0;
        event announced;
    } claim;
    auto const keep = [&](event e) {
        if (std::exchange(claim.is_open, false)) {
            claim.announced.last = e.last;
            if (!(e == claim.announced))
                result.broken_promise += "claim_body() announced another node than came; ";
            e.value = input.substr(claim.begin, claim.size);
        }
        result.events.push_back(std::move(e));
    };
    auto const end_with = [&]() -> parse_result& {
        if (claim.is_open)
            result.consumed = claim.begin; // As far as the parser would have come by itself.
        result.is_idle = parser.is_idle();
        return result;
    };
    for (std::size_t const end : ends) {
        bool more = true;
        while (more) {
            std::size_t const taken = std::min(claim.left, end - result.consumed);
            claim.left -= taken;
            result.consumed += taken;
            if (claim.left != 0)
                break;
            std::size_t unread = end - result.consumed;
            auto memory = std::make_unique<char[]>(unread);
            std::copy_n(input.data() + result.consumed, unread, memory.get());
            if (texts_at_once != 0) {
                auto const row = parser.take_text_pushes({memory.get(), unread}, texts);
                for (std::size_t i = 0; i != row.pushes; ++i)
                    append_events(result.events, texts[i]);
                if (row.pushes != 0 && (claim.is_open || end < promised))
                    result.broken_promise += "pushes were taken while something else was missing; ";
                result.consumed += row.consumed;
                unread = end - result.consumed;
                memory = std::make_unique<char[]>(unread);
                std::copy_n(input.data() + result.consumed, unread, memory.get());
            }
            resp3::progress const part = parser.parse_some({memory.get(), unread}, batch);
            for (std::size_t i = 0; i != part.nodes; ++i)
                keep(to_event(batch[i]));
            result.consumed += part.consumed;
            if (part.nodes != 0 && end < promised)
                result.broken_promise += "a node came before the bytes that were said to be missing; ";
            if (part.what == resp3::status::node && part.nodes != batch_size)
                result.broken_promise += "stopped with space in the batch; ";
            more = part.what == resp3::status::node;
            if (part.what == resp3::status::need_more) {
                promised = end + part.missing;
                std::uint64_t const body = parser.pending_body();
                if (part.missing == 0)
                    result.broken_promise += "needs more, but nothing is missing; ";
                if (body != 0 && part.missing != body + 2 + result.consumed - end)
                    result.broken_promise += "pending_body() and missing disagree; ";
                if (body != 0 && body >= claim_min) {
                    auto const size = static_cast<std::size_t>(body);
                    claim = {true, result.consumed, size, size, to_event(parser.claim_body())};
                    more = true;
                }
            }
            if (part.what == resp3::status::failed) {
                result.ec = part.ec;
                auto const again = parser.parse_some({memory.get(), unread}, batch);
                if (again.what != resp3::status::failed || again.ec != part.ec || again.consumed != 0)
                    result.broken_promise += "went on after an error; ";
                return end_with();
            }
        }
    }
    return end_with();
}

/// Limits that short inputs reach, with streamed types allowed.
inline resp3::limits tight_limits() {
    return {.depth_max = 4,
            .streamed_types = true,
            .line_bytes_max = 24,
            .bulk_bytes_max = 40,
            .elements_max = 12,
            .message_bytes_max = 120};
}

/// The fuzzer's check of one input. It is the same input when it is cut in any way and handed over in batches of any
/// size, whoever takes the bodies. Returns what went wrong, or an empty text.
inline std::string find_disagreement(std::string_view input) {
    std::uint64_t state = 0xcbf29ce484222325; // FNV-1a of the input decides where it is cut
    for (char const c : input)
        state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    auto const below = [&state](std::size_t n) {
        state = state * 6364136223846793005 + 1442695040888963407;
        return static_cast<std::size_t>(state >> 33) % n;
    };
    resp3::limits streams;
    streams.streamed_types = true;
    resp3::limits outside = streams;
    outside.pushes_stand_outside = true;
    for (resp3::limits const& bounds : {resp3::limits{}, streams, outside, tight_limits()}) {
        parse_result const reference = parse_in_pieces(input, whole(input), bounds, 64);
        if (!reference.broken_promise.empty())
            return reference.broken_promise;
        for (int round = 0; round != 6; ++round) {
            cuts ends;
            if (round % 3 == 0 && input.size() <= 512) {
                ends = every(1, input);
            } else {
                for (std::size_t at = below(24); at < input.size(); at += 1 + below(round == 1 ? 6 : 200))
                    ends.push_back(at);
                ends.push_back(input.size());
            }
            std::uint64_t const claim_min = round < 2 ? claim_none : 1 + below(round < 4 ? 1 : 64);
            std::size_t const batch_size = 1 + below(9);
            std::size_t const pushes_at_once = below(3);
            parse_result const pieces = parse_in_pieces(input, ends, bounds, batch_size, claim_min, pushes_at_once);
            if (!pieces.broken_promise.empty())
                return pieces.broken_promise;
            if (!(pieces == reference))
                return "cut into pieces it reads differently";
        }
    }
    return {};
}

} // namespace fairlead::test
