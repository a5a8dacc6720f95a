#include "options.hpp"

#include <fairlead/base/config.hpp>

#include <charconv>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <system_error>

namespace cli {
namespace {

constexpr char const* usage = R"(fairlead-redis - a client of Redis and Valkey for the command line

  fairlead-redis [OPTIONS] [COMMAND [ARGUMENT...]]

Without a command it executes the lines of standard input, with the quotes of redis-cli: "a\n\x00b" 'it\'s'.

Server
  -h HOST               its name or address (127.0.0.1)
  -p PORT               its port (6379)
  -s PATH               its UNIX socket, in place of both
  -u URI                redis://[[USER:]PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// for TLS
  --user NAME           of the user; needs a password
  -a, --pass PASSWORD   or the variable REDISCLI_AUTH, which other users of the computer cannot see
  -n NUMBER             of the database (0)
  -2, -3                the version of RESP (3, or 2 where the server knows no other)
  --tls                 with TLS; the certificate has to be made out to HOST
  --sni NAME            ... or to this name
  --cacert FILE         authorities to believe, in place of the system's
  --cacertdir FOLDER    the same
  --cert FILE --key FILE  the client's own certificate and its key
  --insecure            believe any server

Commands
  -r NUMBER             execute each so often; negative: for ever
  -i SECONDS            wait so long between two
  -x                    the last argument is what stands in standard input
  -e                    end with status 1 at the first command that the server refuses

Output
  --raw                 texts alone; so it is where standard output is no terminal
  --no-raw              with types, numbers and quotes; so it is on a terminal
  --json                as JSON, one line for each reply
  --show-pushes yes|no  messages that are no replies (yes on a terminal)

Other modes
  --latency             measure PING for ever; with --raw or --json, or without a terminal, for -i SECONDS (1)
  --pipe                send standard input, which is RESP or inline commands, and count the replies
  --pipe-timeout SECONDS  without a reply behind the last command (30; 0: for ever)
  --help, --version

Status: 0; 1 when the server cannot be reached, is lost, or refused something (-e, --pipe); 2 for wrong arguments.
)";

[[noreturn]] void refuse(std::string const& why) {
    throw early_end{2, "fairlead-redis: " + why + "\nfairlead-redis --help says what there is\n"};
}

template <class Number> Number number_of(std::string_view option, std::string_view text) {
    Number n{};
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (ec != std::errc() || end != text.data() + text.size())
        refuse(std::string(option) + ": " + std::string(text) + " is no number");
    return n;
}

std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i != text.size(); ++i) {
        unsigned byte = 0;
        if (text[i] == '%' && text.size() - i > 2 &&
            std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
            out.push_back(static_cast<char>(byte));
            i += 2;
        } else {
            out.push_back(text[i]);
        }
    }
    return out;
}

void read_uri(options& o, std::string_view uri) {
    o.has_tls = uri.starts_with("rediss://");
    if (!o.has_tls && !uri.starts_with("redis://"))
        refuse("-u: a URI begins with redis:// or rediss://");
    uri.remove_prefix(o.has_tls ? 9 : 8);
    if (auto const slash = uri.find('/'); slash != uri.npos) {
        if (auto const database = uri.substr(slash + 1); !database.empty())
            o.database = number_of<unsigned>("-u", database);
        uri = uri.substr(0, slash);
    }
    if (auto const at = uri.rfind('@'); at != uri.npos) {
        auto const who = uri.substr(0, at);
        auto const colon = who.find(':');
        o.user = colon == who.npos ? "" : decoded(who.substr(0, colon));
        o.password = decoded(colon == who.npos ? who : who.substr(colon + 1));
        uri.remove_prefix(at + 1);
    }
    auto const colon = uri.rfind(':');
    bool const has_port = colon != uri.npos && uri.find(']', colon) == uri.npos;
    if (has_port)
        o.port = uri.substr(colon + 1);
    auto const host = has_port ? uri.substr(0, colon) : uri;
    if (!host.empty())
        o.host = host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

bool yes_or_no(std::string_view option, std::string_view text) {
    if (text != "yes" && text != "no")
        refuse(std::string(option) + ": say yes or no");
    return text == "yes";
}

/// True: it was an option without a value.
bool take_flag(options& o, std::string_view name) {
    if (name == "-2" || name == "-3")
        o.wants_resp3 = name == "-3";
    else if (name == "--tls")
        o.has_tls = true;
    else if (name == "--insecure")
        o.is_insecure = true;
    else if (name == "--raw")
        o.how = form::raw;
    else if (name == "--no-raw")
        o.how = form::standard;
    else if (name == "--json")
        o.how = form::json;
    else if (name == "-x")
        o.reads_last_word = true;
    else if (name == "-e")
        o.fails_with_errors = true;
    else if (name == "--latency")
        o.mode = mode::latency;
    else if (name == "--pipe")
        o.mode = mode::pipe;
    else if (name == "--help")
        throw early_end{0, usage};
    else if (name == "--version")
        throw early_end{0, "fairlead-redis " + std::to_string(FAIRLEAD_VERSION_MAJOR) + '.' +
                               std::to_string(FAIRLEAD_VERSION_MINOR) + '.' + std::to_string(FAIRLEAD_VERSION_PATCH) +
                               '\n'};
    else
        return false;
    return true;
}

void take_value(options& o, std::string_view name, char const* next) {
    std::pair<std::string_view, std::string*> const texts[] = {{"-h", &o.host},
                                                               {"-p", &o.port},
                                                               {"-s", &o.unix_path},
                                                               {"--user", &o.user},
                                                               {"-a", &o.password},
                                                               {"--pass", &o.password},
                                                               {"--sni", &o.sni},
                                                               {"--cacert", &o.ca_file},
                                                               {"--cacertdir", &o.ca_folder},
                                                               {"--cert", &o.certificate},
                                                               {"--key", &o.key}};
    auto const value = [&] {
        if (!next)
            refuse(std::string(name) + " needs a value");
        return std::string_view(next);
    };
    for (auto const& [option, into] : texts)
        if (name == option)
            return void(*into = value());
    if (name == "-n")
        o.database = number_of<unsigned>(name, value());
    else if (name == "-u")
        read_uri(o, value());
    else if (name == "-r")
        o.repeats = number_of<long>(name, value());
    else if (name == "-i") {
        o.interval_s = number_of<double>(name, value());
        o.has_interval = true;
    } else if (name == "--pipe-timeout")
        o.pipe_timeout_s = number_of<double>(name, value());
    else if (name == "--show-pushes")
        o.shows_pushes = yes_or_no(name, value());
    else
        refuse("there is no option " + std::string(name));
}

} // namespace

options read_arguments(int argc, char** argv) {
    options o;
    if (char const* const password = std::getenv("REDISCLI_AUTH"))
        o.password = password;
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; ++i) {
        if (take_flag(o, argv[i]))
            continue;
        take_value(o, argv[i], i + 1 < argc ? argv[i + 1] : nullptr);
        ++i;
    }
    o.command.assign(argv + i, argv + argc);
    if (!o.user.empty() && o.password.empty())
        refuse("--user needs a password: -a, or the variable REDISCLI_AUTH");
    if (o.mode != mode::commands && !o.command.empty())
        refuse("--latency and --pipe take no command");
    return o;
}

} // namespace cli
