// The events of the last connections that ended with calls under way, for the exceptions of these calls.
//
// A call's record is all that is left when its coroutine goes on: the connection may have gone. So the record has a
// number, and a table of the process has the texts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace fairlead::redis::impl {

/// A number for the text; 0 without memory. Any thread.
std::uint32_t note_ending(std::string&& events) noexcept;
/// Null: none, or too many have ended since. Any thread.
std::shared_ptr<std::string const> find_ending(std::uint64_t number) noexcept;
/// For those who count memory: the table is empty afterwards. Any thread.
void forget_endings() noexcept;

} // namespace fairlead::redis::impl
