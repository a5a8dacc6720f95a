#include <fairlead/coro/spawn.hpp>

#include <coro/task_list.hpp>

namespace fairlead::impl::coro {
namespace {

/// One frame after the other. If each destroyed the frame that it awaits, the stack would have to be as deep as the
/// chain is long.
void destroy_from_the_innermost(await_record& r) {
    for (exec::chain_link* l = r.innermost; l;) {
        exec::chain_link* const parent = l->parent;
        *l->owner = nullptr;
        l->handle().destroy();
        l = parent;
    }
    r.hooks->destroy(&r);
}

} // namespace

spawn_root::spawn_root(any_io_executor const& e, exec::record_hooks const& h) noexcept
    : await_record(h),
      executor_(e),
      elsewhere_(executor_) {
    be_at_home();
}

void spawn_root::settle(any_io_executor const& e) noexcept {
    executor_ = e;
    be_at_home();
}

void spawn_root::be_at_home() noexcept {
    executor = &executor_;
    find_home();
    if (task_list::is_in_use()) [[unlikely]]
        is_listed_ = task_list::of_process().add(*this);
}

void spawn_root::find_home() noexcept {
    loop* const native = executor_.native_loop();
    home = native ? static_cast<resumer*>(native) : &elsewhere_;
}

void spawn_root::move_to(any_io_executor const& e) noexcept {
    any_io_executor const old = executor_;
    old.on_work_started(); // It is left when the new one counts.
    if (is_counted_)
        home->count_work(-1);
    executor_ = e;
    find_home();
    if (is_listed_)
        task_list::of_process().has_moved(*this);
    home->count_work(+1);
    is_counted_ = true;
    old.on_work_finished();
}

void spawn_root::leave_home() noexcept {
    if (is_listed_) [[unlikely]]
        task_list::of_process().remove(*this);
    if (is_counted_)
        home->count_work(-1);
    is_listed_ = is_counted_ = false;
}

spawn_root::~spawn_root() { leave_home(); }

void spawn_root::start() {
    home->count_work(+1);
    is_counted_ = true;
    begin_at_home();
}

void spawn_root::start_kept() { begin_at_home(); }

inline void spawn_root::begin_at_home() {
    keeps_home = true;
    auto& thread = exec::this_thread;
    if (thread.depth < 16 && home->runs_here()) {
        auto const* outer = thread.starting;
        bool const dropped = thread.dropped;
        thread.starting = this;
        loop::resume_chain(*this);
        thread.starting = outer;
        thread.dropped = dropped;
    } else {
        loop::resume_later(*this);
    }
}

void destroy_chain(await_record* r) noexcept {
    if (r->end == exec::chain_end::queued)
        return;
    r->end = r->lent ? exec::chain_end::awaits_bytes : exec::chain_end::queued;
    if (r->lent)
        return;
    op& o = r->make<op>();
    o.run = [](op* base, op_mode) { destroy_from_the_innermost(await_record::of(*base)); };
    o.cancel = nullptr;
    r->home->resume_soon(o);
}

template <> template <> void spawn_awaitable::operator()(token::detached_handler&& handler) {
    start(std::move(handler));
}
template <> template <> void spawn_awaitable::operator()(rethrow_t const& handler) { start(handler); }

} // namespace fairlead::impl::coro
