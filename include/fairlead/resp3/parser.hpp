// RESP3 and RESP2, bytes in and nodes out: no I/O, no recursion, no copy of values.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/resp3/error.hpp>
#include <fairlead/resp3/node.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fairlead::resp3 {

/// Bounds on what a peer may make us hold or wait for. The value itself is still allowed.
struct limits {
    std::uint32_t depth_max = 1024; ///< Aggregates open inside each other.
    bool streamed_types = false;    ///< Accept lengths of '?' instead of failing cleanly.
    /// A push inside an aggregate is no element of it, but stands in between. Servers before 7.2 send that when a
    /// transaction publishes to its own connection. Otherwise it counts, as for SUBSCRIBE inside a transaction.
    bool pushes_stand_outside = false;
    std::size_t line_bytes_max = 64 * 1024;                      ///< Of a line, without type byte and CRLF.
    std::uint64_t bulk_bytes_max = 512ull * 1024 * 1024;         ///< Of the body of one bulk.
    std::uint64_t elements_max = 1ull << 28;                     ///< Children announced by one header (2n of a map).
    std::uint64_t message_bytes_max = 4ull * 1024 * 1024 * 1024; ///< Of one message with all its framing.
};

/// The next need of the parser.
enum class status : unsigned char {
    node,      ///< The batch is full: call again with the bytes after `consumed`.
    need_more, ///< Everything that is complete was delivered: read, then call again.
    failed,    ///< The bytes after `consumed` are no RESP, or above a limit. Only reset() helps.
};

/// How one call ended. Nodes delivered by it are valid whatever the status says.
struct progress {
    std::size_t consumed = 0;  ///< Remove so many bytes from the front before the next call, in every case.
    std::size_t nodes = 0;     ///< So many nodes were delivered.
    std::uint64_t missing = 0; ///< With need_more: at least so many more bytes must come; exact for a bulk's body.
    status what = status::need_more;
    error_code ec; ///< With failed: which of resp3::error.
};

/// A push whose elements are short bulk strings, as of a message of a channel: its texts, without nodes.
struct text_push {
    static constexpr std::size_t texts_max = 4;
    std::string_view texts[texts_max]; ///< The first `size` of them.
    std::size_t size;
};

/// A resumable parser. The caller owns the buffer: it passes all bytes not yet consumed, contiguous, and may move them
/// between calls. A scalar line is delivered when its CRLF is there. The header of a bulk is consumed on its own, with
/// the format of a verbatim string. Its body is delivered as one view when all of it is there. While waiting,
/// pending_body() tells its size, so that the caller can make space once. Or the caller calls claim_body() and receives
/// the body straight into its destination.
///
/// Work      linear in the bytes: a partial line is searched on from where the last call stopped
/// Allocates the stack of open aggregates only: 16 bytes for each level whose header arrived, kept for reuse
/// Throws    bad_alloc, when that stack cannot grow: the nodes of this call are lost, so reset() and close
/// Threads   none of its own; one at a time
class FAIRLEAD_EXPORT parser {
public:
    parser() noexcept = default;
    explicit parser(limits const& bounds) noexcept : limits_(bounds) {}

    /// Parses until `into` is full, `unread` is used up or the bytes are wrong. `into` must not be empty.
    progress parse_some(std::string_view unread, std::span<node> into);

    /// Parses all of `unread` and calls sink(node const&) for each node, in batches. A node may have been consumed
    /// before the sink sees its predecessor. A sink that may stop in between therefore uses parse_some().
    /// An exception of the sink leaves the parser ahead of the caller's buffer: reset() and close the connection.
    template <typename Sink> progress parse(std::string_view unread, Sink&& sink) {
        node batch[batch_size];
        progress total;
        do {
            progress const part = parse_some(unread.substr(total.consumed), batch);
            for (std::size_t i = 0; i != part.nodes; ++i)
                sink(static_cast<node const&>(batch[i]));
            total.consumed += part.consumed;
            total.nodes += part.nodes;
            total.missing = part.missing;
            total.what = part.what;
            total.ec = part.ec;
        } while (total.what == status::node);
        return total;
    }

    /// The pushes that one call has taken, and their bytes.
    struct text_pushes {
        std::size_t consumed = 0;
        std::size_t pushes = 0;
    };
    /// Reads the pushes that stand whole at the front of `unread`, no more than `into` has room for. It stops at the
    /// first message of another kind, and takes nothing while one is under way or a limit is near. So it takes only
    /// messages that parse_some() would deliver, and leaves the parser as that would: parse_some() says the rest.
    text_pushes take_text_pushes(std::string_view unread, std::span<text_push> into) const noexcept;

    /// Back to the start of a connection; limits and memory are kept.
    void reset() noexcept;

    /// No part of a message has been consumed: a connection that ends here ends cleanly (if nothing is unread either).
    bool is_idle() const noexcept { return message_bytes_ == 0 && !failure_; }

    /// Bytes of the bulk body that comes next, neither format nor CRLF counted, when its header was consumed already.
    /// Else 0.
    std::uint64_t pending_body() const noexcept { return phase_ == phase::body ? body_bytes_ : 0; }

    /// Takes the pending body out of the parser's hands: the caller stores its pending_body() bytes itself, the first
    /// of which are the unread ones. The parser goes on with what follows them (the CRLF) and then delivers the node as
    /// usual but with an empty value. Returns that node in advance. Only when pending_body() is not 0.
    node claim_body() noexcept;

    limits const& bounds() const noexcept { return limits_; }

private:
    static constexpr std::size_t batch_size = 32;

    enum class phase : unsigned char {
        element, // unread starts with a type byte
        body,    // ... with the body of a bulk whose header was consumed
        tail,    // ... with the CRLF after a body that the caller took
        chunks,  // ... with the next chunk of a streamed string
    };
    struct frame {
        std::uint64_t left; // children to come, or unknown_size
        type kind;
        bool half_pair; // of a map of unknown size: a key has come, its value has not
    };
    struct cursor;

    limits limits_;
    std::vector<frame> stack_;     // open aggregates, innermost last
    std::uint32_t attributes_ = 0; // how many of them are attributes
    phase phase_ = phase::element;
    type body_kind_ = type::null;     // with phases body and tail
    std::array<char, 3> format_{};    // likewise, of a verbatim string
    std::uint64_t body_bytes_ = 0;    // likewise
    std::uint64_t message_bytes_ = 0; // consumed of the message under way
    std::size_t searched_ = 0;        // of a line whose end has not come: so many bytes hold none
    error_code failure_;
};

} // namespace fairlead::resp3
