#include <fairlead/legacy/config.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace fairlead {
namespace {

/// prefix.section.key
std::string full_name(std::string const& prefix, char const* section, char const* key) {
    std::string name = prefix;
    if (!name.empty())
        name += '.';
    return name.append(section).append(".").append(key);
}

std::string_view trimmed(std::string_view text) noexcept {
    constexpr std::string_view blank = " \t\r";
    auto const begin = text.find_first_not_of(blank);
    return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

class text_config final : public config_service {
public:
    text_config(execution_context& c, std::string_view text, std::string const& prefix)
        : config_service(c),
          prefix_(prefix) {
        while (!text.empty()) {
            auto const end = std::min(text.find('\n'), text.size());
            add(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }
    char const* get_value(char const* section, char const* key, char*, std::size_t) const override {
        auto const name = full_name(prefix_, section, key);
        auto const found = std::find_if(lines_.begin(), lines_.end(), [&](line const& l) { return l.name == name; });
        return found == lines_.end() ? nullptr : found->value.c_str();
    }

private:
    struct line {
        std::string name, value;
    };
    void add(std::string_view l) {
        l = l.substr(0, l.find('#'));
        auto const equals = l.find('=');
        if (equals == l.npos)
            return;
        auto const name = trimmed(l.substr(0, equals)), value = trimmed(l.substr(equals + 1));
        if (!name.empty() && !value.empty())
            lines_.push_back({std::string(name), std::string(value)});
    }

    std::string prefix_;
    std::vector<line> lines_;
};

class hint_config final : public config_service {
public:
    hint_config(execution_context& c, int hint) : config_service(c), hint_(hint), text_(std::to_string(threads())) {}
    char const* get_value(char const* section, char const* key, char*, std::size_t) const override {
        bool const locks = hint_ != config_from_concurrency_hint::unsafe;
        bool const locks_io = locks && hint_ != config_from_concurrency_hint::unsafe_io;
        auto const is = [&](char const* s, char const* k) { return !std::strcmp(section, s) && !std::strcmp(key, k); };
        if (is("scheduler", "concurrency_hint"))
            return text_.c_str();
        if (is("scheduler", "locking") || is("reactor", "registration_locking"))
            return locks ? "1" : "0";
        if (is("reactor", "io_locking"))
            return locks_io ? "1" : "0";
        return nullptr;
    }

private:
    int threads() const noexcept {
        switch (hint_) {
        case config_from_concurrency_hint::unsafe:
        case config_from_concurrency_hint::unsafe_io: return 1;
        case config_from_concurrency_hint::safe: return config_from_concurrency_hint::none;
        default: return hint_;
        }
    }

    int hint_;
    std::string text_;
};

[[noreturn]] void refuse(char const* section, char const* key) {
    throw std::out_of_range("config: the value of " + full_name({}, section, key) + " does not fit");
}

/// A number of 64 bits with a sign, and its digits.
constexpr std::size_t number_size_max = 24;

/// False: there is no value. `parse` is one of strtoll's family; `fits` looks at `n` once all of the text has made a
/// number.
template <class N, class Parse, class Fits>
bool read_number(config_service const& from, char const* section, char const* key, N& n, Parse parse, Fits fits) {
    char place[number_size_max];
    char const* const text = from.get_value(section, key, place, sizeof place);
    if (!text)
        return false;
    char* end = nullptr;
    errno = 0;
    n = static_cast<N>(parse(text, &end, 0));
    bool const is_whole = end != text && trimmed(end).empty() && errno == 0;
    if (!is_whole || !fits(text))
        refuse(section, key);
    return true;
}

} // namespace

config_service::~config_service() = default;
char const* config_service::get_value(char const*, char const*, char*, std::size_t) const { return nullptr; }

bool config::read(name of, std::uint64_t& n, std::uint64_t most) const {
    return read_number(*service_, of.section, of.key, n, std::strtoull, [&](char const* text) {
        return n <= most && !std::strchr(text, '-'); // strtoull takes signs, and goes round.
    });
}

bool config::read(name of, std::int64_t& n, std::int64_t least, std::int64_t most) const {
    return read_number(*service_, of.section, of.key, n, std::strtoll,
                       [&](char const*) { return least <= n && n <= most; });
}

void config_from_string::make(execution_context& c) const { make_service<text_config>(c, text_, prefix_); }
void config_from_concurrency_hint::make(execution_context& c) const { make_service<hint_config>(c, hint_); }

} // namespace fairlead
