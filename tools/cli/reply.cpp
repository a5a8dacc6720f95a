#include "reply.hpp"

#include "words.hpp"

#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>

namespace cli {
namespace {

reply take_value(std::vector<owned_node>& nodes, std::size_t& at) {
    reply r;
    while (nodes[at].what == kind::attribute) {
        auto const size = nodes[at++].size;
        for (std::uint64_t i = 0; i != size; ++i)
            r.attributes.push_back(take_value(nodes, at));
    }
    auto& n = nodes[at++];
    r.what = n.what;
    r.text = std::move(n.text);
    auto const size = fairlead::resp3::is_aggregate(r.what) ? n.size : 0;
    for (std::uint64_t i = 0; i != size; ++i)
        r.children.push_back(take_value(nodes, at));
    return r;
}

// ---- for people

std::string standard(reply const& r, std::string const& prefix);

std::string_view name_of_empty(kind k) noexcept {
    switch (k) {
    case kind::map: return "(empty hash)\n";
    case kind::set: return "(empty set)\n";
    case kind::push: return "(empty push)\n";
    default: return "(empty array)\n";
    }
}

/// "1) " for each element; the first one stands behind what the caller has written.
std::string standard_elements(reply const& r, std::string const& prefix) {
    std::size_t const step = r.what == kind::map ? 2 : 1;
    auto const width = std::to_string(r.children.size() / step).size();
    auto const inner = prefix + std::string(width + 2, ' ');
    char const mark = r.what == kind::map ? '#' : r.what == kind::set ? '~' : ')';
    std::string out;
    for (std::size_t i = 0; i != r.children.size(); i += step) {
        auto const number = std::to_string(i / step + 1);
        if (i != 0)
            out.append(prefix);
        out.append(width - number.size(), ' ').append(number).append({mark, ' '});
        out.append(standard(r.children[i], inner));
        if (step == 2) {
            auto const value = standard(r.children[i + 1], inner);
            out.pop_back();
            out.append(" => ");
            if (!r.children[i + 1].children.empty() && value.find('\n') + 1 != value.size())
                out.append("\n").append(inner); // More than a line stands below.
            out.append(value);
        }
    }
    return out;
}

std::string standard_value(reply const& r, std::string const& prefix) {
    switch (r.what) {
    case kind::simple_error:
    case kind::blob_error: return "(error) " + r.text + '\n';
    case kind::number: return "(integer) " + r.text + '\n';
    case kind::real: return "(double) " + r.text + '\n';
    case kind::big_number: return "(big number) " + r.text + '\n';
    case kind::boolean: return r.text == "t" ? "(true)\n" : "(false)\n";
    case kind::null: return "(nil)\n";
    case kind::blob_string: return quoted(r.text) + '\n';
    case kind::array:
    case kind::map:
    case kind::set:
    case kind::push: return r.children.empty() ? std::string(name_of_empty(r.what)) : standard_elements(r, prefix);
    default: return r.text + '\n'; // simple and verbatim strings
    }
}

/// Attributes stand in lines before what they describe.
std::string standard(reply const& r, std::string const& prefix) {
    if (r.attributes.empty())
        return standard_value(r, prefix);
    reply all;
    all.what = kind::map;
    all.children = r.attributes;
    std::string const words = "(attributes) ";
    return words + standard_elements(all, prefix + std::string(words.size(), ' ')) + prefix + standard_value(r, prefix);
}

// ---- the texts alone

std::string raw(reply const& r) {
    std::string out;
    switch (r.what) {
    case kind::null: return {};
    case kind::simple_error:
    case kind::blob_error: return r.text + '\n';
    case kind::boolean: return r.text == "t" ? "(true)" : "(false)";
    case kind::array:
    case kind::set:
    case kind::push:
        for (auto const& each : r.children)
            out.append(&each == &r.children.front() ? "" : "\n").append(raw(each));
        return out;
    case kind::map:
        for (std::size_t i = 0; i != r.children.size(); i += 2)
            out.append(i == 0 ? "" : "\n").append(raw(r.children[i])).append(" ").append(raw(r.children[i + 1]));
        return out;
    default: return r.text;
    }
}

// ---- JSON

/// Bytes above 0x7f stay as they are: of UTF-8 that is right, of others the reader has to know.
std::string json_text(std::string_view text) {
    std::string out = "\"";
    for (char const c : text) {
        constexpr std::string_view bytes = "\n\r\t\b\f\\\"", letters = "nrtbf\\\"";
        if (auto const at = bytes.find(c); at != bytes.npos) {
            out.append({'\\', letters[at]});
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
            out.append(code);
        } else {
            out.push_back(c);
        }
    }
    return out + '"';
}

std::string json(reply const& r) {
    std::string out;
    switch (r.what) {
    case kind::null: return "null";
    case kind::boolean: return r.text == "t" ? "true" : "false";
    case kind::number:
    case kind::big_number: return r.text;
    case kind::real: // inf and nan are no numbers there
        return r.text.find_first_of("in") == r.text.npos ? r.text : json_text(r.text);
    case kind::simple_error:
    case kind::blob_error: return "{\"error\":" + json_text(r.text) + '}';
    case kind::array:
    case kind::set:
    case kind::push:
        for (auto const& each : r.children)
            out.append(&each == &r.children.front() ? "" : ",").append(json(each));
        return '[' + out + ']';
    case kind::map:
        for (std::size_t i = 0; i != r.children.size(); i += 2) {
            auto const name = json(r.children[i]);
            out.append(i == 0 ? "" : ",").append(name.starts_with('"') ? name : json_text(name));
            out.append(":").append(json(r.children[i + 1]));
        }
        return '{' + out + '}';
    default: return json_text(r.text);
    }
}

} // namespace

reply tree_of(std::vector<owned_node>& nodes) {
    std::size_t at = 0;
    return take_value(nodes, at);
}

std::string shown(reply const& r, form how) {
    switch (how) {
    case form::standard: return standard(r, {});
    case form::raw: return raw(r) + '\n';
    case form::json: return json(r) + '\n';
    }
    return {};
}

bool is_error(reply const& r) noexcept { return fairlead::resp3::is_error(r.what); }

} // namespace cli
