// A function of the library whose name says which error_code it has.
#include <fairlead/net/address.hpp>

int main() {
    fairlead::error_code failed;
    return fairlead::ip::make_address("::1", failed).is_v6() ? 0 : 1;
}
