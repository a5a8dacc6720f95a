#include <fairlead/resp3/convert.hpp>

namespace fairlead::resp3 {

double to_real(std::string_view text, error_code& ec) noexcept {
    ec.clear();
    double value = 0;
    if (text.size() > 1 && text[0] == '+' && text[1] != '-')
        text.remove_prefix(1); // from_chars knows no plus
    char const* const end = text.data() + text.size();
    auto const [stop, problem] = std::from_chars(text.data(), end, value);
    if (stop != end || problem == std::errc::invalid_argument) {
        ec = error::not_a_real;
        return 0;
    }
    if (problem != std::errc{}) {
        ec = error::out_of_range;
        return 0;
    }
    return value;
}

bool to_boolean(std::string_view text, error_code& ec) noexcept {
    ec.clear();
    if (text == "t" || text == "1")
        return true;
    if (text != "f" && text != "0")
        ec = error::not_a_boolean;
    return false;
}

} // namespace fairlead::resp3
