#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/legacy/inline_properties.hpp>
#include <fairlead/legacy/with_properties.hpp>

namespace fairlead::impl::legacy {
namespace {

executor_properties with(executor_properties p, exec::any_property asked) noexcept {
    switch (asked) {
    case exec::any_property::never: p.set(execution::blocking.never); break;
    case exec::any_property::possibly: p.set(execution::blocking.possibly); break;
    case exec::any_property::untracked: p.set(execution::outstanding_work.untracked); break;
    case exec::any_property::tracked: p.set(execution::outstanding_work.tracked); break;
    case exec::any_property::fork: p.set(execution::relationship.fork); break;
    case exec::any_property::continuation: p.set(execution::relationship.continuation); break;
    }
    return p;
}

template <class... E> struct types {};
/// The executors of the library that programs name. A variant that `require` makes of one by its type compares equal.
using named = types<io_context::executor_type, loop_executor, thread_pool::executor_type, system_executor,
                    system_context::executor_type, strand<any_io_executor>, strand<io_context::executor_type>,
                    strand<thread_pool::executor_type>, strand<system_executor>>;

template <class E> bool change(any_io_executor& e, executor_properties const& p) {
    if (auto const* const inside = e.target<E>()) {
        e = any_io_executor(with_properties<E>(*inside, p, execution::allocator));
        return true;
    }
    return false;
}
template <class... E> any_io_executor change_one(types<E...>, any_io_executor e, executor_properties const& p) {
    if ((change<E>(e, p) || ...))
        return e;
    return with_properties<any_io_executor>(e, p, execution::allocator);
}

} // namespace

} // namespace fairlead::impl::legacy

namespace fairlead::impl {

legacy::executor_properties exec::properties_of_any::of(any_io_executor const& e) {
    auto const& functions = e.check();
    if (functions.properties) {
        auto const numbers = functions.properties->query(e.storage_);
        return {execution::blocking_t::numbered(numbers.blocking),
                execution::relationship_t::numbered(numbers.relationship),
                execution::outstanding_work_t::numbered(numbers.work)};
    }
    legacy::executor_properties p;
    if (functions.of_the_library)
        return p;
    // It knows none: then it has the first value of each, which promises least.
    bool const is_inline =
        e.target<inline_executor>() || e.target<basic_inline_executor<execution::terminate_inline_t>>();
    if (is_inline)
        p.set(execution::blocking.always);
    else
        p.set(execution::blocking.possibly);
    return p;
}

any_io_executor exec::properties_of_any::changed(any_io_executor const& e, any_property asked) {
    auto const& functions = e.check();
    if (functions.properties)
        return functions.properties->prefer(e.storage_, asked);
    auto const p = legacy::with({}, asked);
    if (!functions.of_the_library || p == legacy::executor_properties())
        return e;
    return legacy::change_one(legacy::named(), e, p);
}

} // namespace fairlead::impl
