// The digests by which the embedded server names scripts and keeps passwords, in hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::redis::server_impl {

std::string sha1(std::string_view bytes);
std::string sha256(std::string_view bytes);

} // namespace fairlead::redis::server_impl
