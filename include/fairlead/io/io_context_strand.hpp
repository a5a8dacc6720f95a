// io_context::strand: the strand of programs that were written before strands took an executor.
#pragma once

#include <fairlead/exec/strand.hpp>
#include <fairlead/io/io_context.hpp>

namespace fairlead {

/// A strand on an io_context.
class io_context::strand : public fairlead::strand<io_context::executor_type> {
public:
    explicit strand(io_context& c) : fairlead::strand<io_context::executor_type>(c.get_executor()) {}
    io_context& context() const noexcept { return get_inner_executor().context(); }
};

} // namespace fairlead
