// A message of a channel. It lies in one block, which the client uses again when the message has gone.
#pragma once

#include <fairlead/exec/recycler.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace fairlead::redis {

namespace impl {

/// Behind it lie the texts: channel, pattern, payload.
struct message_block {
    message_block* next; ///< in a mailbox
    std::uint64_t connection;
    std::uint64_t lost;
    std::size_t payload_bytes;
    std::uint32_t channel_bytes;
    std::uint32_t pattern_bytes;

    char* texts() noexcept { return reinterpret_cast<char*>(this + 1); }
    std::size_t bytes() const noexcept { return sizeof *this + channel_bytes + pattern_bytes + payload_bytes; }
};
struct give_back_message {
    void operator()(message_block* b) const noexcept { fairlead::impl::exec::recycle_free_sized(b, b->bytes()); }
};
using owned_block = std::unique_ptr<message_block, give_back_message>;

class mailbox;

} // namespace impl

/// A message that was published. Its texts are its own. They stay where they are for as long as it lives, also when it
/// is moved, and may outlive the subscription and the client.
class message {
public:
    std::string_view channel() const& noexcept { return {block_->texts(), block_->channel_bytes}; }
    std::string_view payload() const& noexcept {
        return {block_->texts() + block_->channel_bytes + block_->pattern_bytes, block_->payload_bytes};
    }
    /// That it matched; else empty.
    std::string_view pattern() const& noexcept {
        return {block_->texts() + block_->channel_bytes, block_->pattern_bytes};
    }
    std::string_view channel() && = delete; ///< The text would go with the message.
    std::string_view payload() && = delete; ///< The text would go with the message.
    std::string_view pattern() && = delete; ///< The text would go with the message.
    /// The number of the connection that brought it, from 1: see subscription.
    std::uint64_t connection() const noexcept { return block_->connection; }
    /// Messages before this one, and behind the last one received, for which there was no room.
    std::uint64_t lost() const noexcept { return block_->lost; }

private:
    friend class impl::mailbox;
    explicit message(impl::message_block* b) noexcept : block_(b) {}
    impl::owned_block block_;
};

} // namespace fairlead::redis
