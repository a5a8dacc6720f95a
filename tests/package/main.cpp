#include <fairlead/base/error.hpp>

#include <cstdio>

int main() {
    fairlead::error_code const ec = fairlead::error::eof;
    std::printf("%s: %s\n", ec.category().name(), ec.message().c_str());
    return ec == fairlead::error::eof ? 0 : 1;
}
