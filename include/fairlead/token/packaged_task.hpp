// std::packaged_task as a completion handler: the initiating function returns its future.
#pragma once

#include <fairlead/operation/async_result.hpp>

#include <future>
#include <utility>

namespace fairlead {

/// `std::future<int> f = post(ctx, std::packaged_task<int()>(work));`
/// The future has what the task returns or throws; an operation that is abandoned breaks the promise.
template <class Result, class... Args, class Signature>
class async_result<std::packaged_task<Result(Args...)>, Signature> {
public:
    using completion_handler_type = std::packaged_task<Result(Args...)>;
    using return_type = std::future<Result>;

    explicit async_result(completion_handler_type& task) : future_(task.get_future()) {}
    return_type get() { return std::move(future_); }

private:
    return_type future_;
};

} // namespace fairlead
