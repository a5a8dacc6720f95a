// io_context::strand: the strand of programs that were written before strands took an executor.
#pragma once

#include <fairlead/exec/strand.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/legacy/wrapped_handler.hpp>

namespace fairlead {

/// A strand on an io_context.
class io_context::strand : public fairlead::strand<io_context::executor_type> {
public:
    explicit strand(io_context& c) : fairlead::strand<io_context::executor_type>(c.get_executor()) {}
    io_context& context() const noexcept { return get_inner_executor().context(); }
    /// A handler that runs `h` on the strand, whoever calls it. New programs have bind_executor().
    template <class Handler> auto wrap(Handler h) const {
        return impl::legacy::wrapped_handler<fairlead::strand<io_context::executor_type>, Handler>(*this, std::move(h));
    }
};

} // namespace fairlead
