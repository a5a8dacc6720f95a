// The mutex of Asio's inside, with which programs lock their own.
#pragma once

#include <asio/detail/scoped_lock.hpp>
#include <asio/fairlead.hpp>

#include <mutex>

namespace fairlead::detail {

class mutex : public std::mutex {
public:
    using scoped_lock = detail::scoped_lock<mutex>;
};

} // namespace fairlead::detail
