// An initiation around another one. It passes on where that one runs, and the text of its errors.
#pragma once

#include <fairlead/operation/async_result.hpp>
#include <fairlead/operation/initiation_storage.hpp>

#include <string>

namespace fairlead::impl::operation {

template <class Initiation> struct initiation_around {
    static constexpr std::size_t async_op_storage = storage_for<Initiation>();

    Initiation initiation;

    auto get_executor() const noexcept
        requires names_executor<Initiation>
    {
        return executor_of(initiation);
    }
    bool lacks_memory() const noexcept
        requires may_lack_memory<Initiation>
    {
        return initiation.lacks_memory();
    }
    std::string describe() const
        requires requires { initiation.describe(); }
    {
        return initiation.describe();
    }
    std::string describe_failed() const
        requires requires { initiation.describe_failed(); }
    {
        return initiation.describe_failed();
    }
};

} // namespace fairlead::impl::operation
