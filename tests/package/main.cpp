#include <fairlead/base/error.hpp>
#include <fairlead/resp3/writer.hpp>

#include <cstdio>
#include <string>

int main() {
    fairlead::error_code const ec = fairlead::error::eof;
    std::string command;
    fairlead::resp3::append_command(command, "SET", "key", 42);
    std::printf("%s: %s; a command of %zu bytes\n", ec.category().name(), ec.message().c_str(), command.size());
    return ec == fairlead::error::eof && command.starts_with("*3\r\n") ? 0 : 1;
}
