#include "options.hpp"

#include <charconv>
#include <cstring>
#include <string_view>

namespace demo {
namespace {

constexpr char const* help =
    "fairlead-demo: 1,000 coroutines share one Redis connection; then one operation in its five call forms, the\n"
    "echo of 100 socket pairs, and reads that are complete when they are started.\n"
    "\n"
    "  --server WHERE    HOST:PORT, unix:/PATH, or embedded (a server inside this program);\n"
    "                    default: a redis-server started for the purpose, embedded where there is none\n"
    "  --callers N       coroutines that issue commands (1000)\n"
    "  --commands N      commands in all (1000000)\n"
    "  --mix LIST        weights, e.g. set=3,get=4,incr=1,mget=1,hgetall=1 (the default)\n"
    "  --json FILE       writes the figures\n"
    "  --plot FILE.svg   writes the distribution of latencies\n"
    "  --echo-messages N messages of the second part (2000); a thousand times as many reads\n"
    "  --no-papers       leaves the second part out\n"
    "  --help            this text\n"
    "\n"
    "Ends with 0 when every reply was right and every push arrived in order.\n";

template <class T> bool number(std::string_view text, T& value) {
    auto const r = std::from_chars(text.data(), text.data() + text.size(), value);
    return r.ec == std::errc() && r.ptr == text.data() + text.size();
}

bool parse_mix(std::string_view text, std::array<unsigned, command_count>& mix) {
    mix = {};
    while (!text.empty()) {
        auto const end = text.find(',');
        auto const item = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        auto const eq = item.find('=');
        if (eq == std::string_view::npos)
            return false;
        bool known = false;
        for (std::size_t i = 0; i != command_count; ++i)
            if (item.substr(0, eq) == command_names[i])
                known = number(item.substr(eq + 1), mix[i]) && mix[i] <= 1000;
        if (!known)
            return false;
    }
    unsigned total = 0;
    for (auto w : mix)
        total += w;
    return total != 0;
}

} // namespace

bool parse(int argc, char** argv, options& o, std::string& message, int& status) {
    status = 2;
    for (int i = 1; i < argc; ++i) {
        std::string_view const name = argv[i];
        if (name == "--help" || name == "-h") {
            message = help;
            status = 0;
            return false;
        }
        if (name == "--no-papers") {
            o.papers = false;
            continue;
        }
        bool const known = name == "--server" || name == "--callers" || name == "--commands" || name == "--mix" ||
                           name == "--json" || name == "--plot" || name == "--echo-messages";
        if (!known) {
            message = "fairlead-demo: unknown option " + std::string(name) + "; --help lists them\n";
            return false;
        }
        if (i + 1 == argc) {
            message = "fairlead-demo: " + std::string(name) + " needs a value; --help explains it\n";
            return false;
        }
        std::string_view const value = argv[++i];
        bool good = true;
        if (name == "--server")
            o.server = value;
        else if (name == "--callers")
            good = number(value, o.callers) && o.callers > 0 && o.callers <= 1'000'000;
        else if (name == "--commands")
            good = number(value, o.commands) && o.commands > 0;
        else if (name == "--mix")
            good = parse_mix(value, o.mix);
        else if (name == "--json")
            o.json = value;
        else if (name == "--plot")
            o.plot = value;
        else
            good = number(value, o.echo_messages);
        if (!good) {
            message = "fairlead-demo: " + std::string(value) + " is no value for " + std::string(name) +
                      "; --help explains it\n";
            return false;
        }
    }
    return true;
}

} // namespace demo
