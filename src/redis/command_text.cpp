#include <fairlead/redis/command_text.hpp>

#include <fairlead/resp3/write_command.hpp>

namespace fairlead::redis::impl {

void append_command_texts(command_text& out, std::string_view const* texts, std::size_t count) {
    resp3::impl::append_texts(out, texts, count);
}
void append_command_header(command_text& out, std::size_t arguments) { resp3::impl::append_head(out, '*', arguments); }
void append_bulk_header(command_text& out, std::uint64_t bytes) { resp3::impl::append_head(out, '$', bytes); }
void append_argument(command_text& out, std::string_view text) { resp3::impl::append_bulk(out, '$', {}, text); }

} // namespace fairlead::redis::impl
