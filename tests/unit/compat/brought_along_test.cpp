// The names that Asio's headers bring along, whichever of them it is: programs that include nothing else compile.
#include <asio/steady_timer.hpp>

namespace {

[[maybe_unused]] int what_asio_brings() {
    std::any any;
    std::array<int, 1> const array{1};
    std::vector<int> vector(array.begin(), array.end());
    std::unordered_map<int, std::shared_ptr<int>> map;
    std::function<std::string(std::tuple<int>)> const function;
    assert(vector.size() == 1 && map.empty() && !function && !any.has_value());
    sockaddr_in address{};
    std::memset(&address, 0, sizeof(address));
    return address.sin_family == AF_UNSPEC ? INT_MAX : ::close(-1);
}

} // namespace
