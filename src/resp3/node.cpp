#include <fairlead/resp3/node.hpp>

namespace fairlead::resp3 {

std::string_view to_string(type kind) noexcept {
    switch (kind) {
    case type::simple_string: return "simple_string";
    case type::simple_error: return "simple_error";
    case type::number: return "number";
    case type::blob_string: return "blob_string";
    case type::blob_error: return "blob_error";
    case type::verbatim_string: return "verbatim_string";
    case type::null: return "null";
    case type::boolean: return "boolean";
    case type::real: return "real";
    case type::big_number: return "big_number";
    case type::array: return "array";
    case type::map: return "map";
    case type::set: return "set";
    case type::push: return "push";
    case type::attribute: return "attribute";
    case type::streamed_string: return "streamed_string";
    case type::chunk: return "chunk";
    case type::stream_end: return "stream_end";
    }
    return "unknown";
}

} // namespace fairlead::resp3
