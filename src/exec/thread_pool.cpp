#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/exec/rundown.hpp>
#include <fairlead/exec/thread_pool.hpp>

#include <exec/park.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace fairlead {
namespace impl::exec {

/// The queues of a pool. Each worker takes in turn from its own queue and from what came from outside. Now and then, or
/// where both are empty, it takes half of another worker's queue. A worker that finds nothing anywhere parks. A thread
/// that queues something wakes one of the parked.
class pool : public in_context_memory {
public:
    pool(execution_context& context, std::size_t threads)
        : thread_count_(threads),
          queues_(std::max<std::size_t>(threads, 1), execution_context::allocator<queue>(context)),
          threads_(execution_context::allocator<park::thread>(context)) {}
    pool(pool const&) = delete;
    pool& operator=(pool const&) = delete;
    ~pool() {
        rundown_.wait();
        for (;;) {
            op* const o = take_any();
            if (!o)
                break;
            loop::abandon(*o);
        }
    }

    void start(std::size_t threads) {
        for (std::size_t i = 0; i != threads; ++i)
            threads_.push_back(park::start_thread([this, i] { run(&queues_[i]); }));
    }
    void post(op& o) noexcept {
        queued_.fetch_add(1, std::memory_order_seq_cst);
        work_.fetch_add(1, std::memory_order_relaxed);
        auto* const me = worker::current;
        if (me && me->of == this && me->own)
            return push(*me->own, o);
        // The last work of the pool may be over, and the pool with it, before we have looked for a parked worker.
        rundown::guard const here(rundown_);
        push(outside_, o);
    }
    void work(int change) noexcept {
        if (change > 0)
            work_.fetch_add(1, std::memory_order_relaxed);
        else if (!count_down_unless_last(work_))
            last_work_finished();
    }
    bool is_running_here() const noexcept {
        for (auto const* w = worker::current; w; w = w->outer)
            if (w->of == this)
                return true;
        return false;
    }
    std::size_t threads() const noexcept { return thread_count_; }
    void stop() noexcept {
        stopped_.store(true, std::memory_order_seq_cst);
        wake(true);
    }
    bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }
    /// The pool itself counts as work until somebody joins.
    void join() {
        if (!is_joined_.exchange(true))
            work(-1);
        for (auto& t : threads_)
            t.join();
        threads_.clear();
    }
    void attach() {
        // Not before a guard or a function is there can its end be waited for: as Asio, the pool is work itself.
        run(nullptr);
    }

private:
    struct alignas(64) queue {
        std::mutex mutex;
        op_queue ops;
        std::atomic<std::size_t> size{0}; ///< changes under the lock; zero may be an old answer
        void grow(std::size_t n) noexcept {
            size.store(size.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
        }
        void shrink(std::size_t n) noexcept {
            size.store(size.load(std::memory_order_relaxed) - n, std::memory_order_relaxed);
        }
    };
    struct worker {
        pool* of;
        queue* own; ///< null: an attached thread
        worker* outer;
        static constinit thread_local worker* current;
        worker(pool* p, queue* q) noexcept : of(p), own(q), outer(std::exchange(current, this)) {}
        worker(worker const&) = delete;
        worker& operator=(worker const&) = delete;
        ~worker() { current = outer; }
    };

    void push(queue& q, op& o) noexcept {
        {
            std::lock_guard const lock(q.mutex);
            q.ops.push_back(o);
            q.grow(1);
        }
        if (parked_.load(std::memory_order_seq_cst) != 0)
            wake(false);
    }
    FAIRLEAD_COLD void last_work_finished() noexcept {
        rundown::guard const here(rundown_);
        if (work_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            wake(true); // Nothing is left: all threads may end.
    }

    void run(queue* own) {
        worker const me(this, own);
        unsigned turn = 0;
        bool owes_a_look = false; // at what the other workers have
        for (;;) {
            if (stopped_.load(std::memory_order_acquire))
                return;
            // Every second time from outside first: a worker that feeds itself would never look there, and what it
            // feeds itself with may take long. Nor would it help the others, of which one may be busy for ever. So
            // every fourth time is theirs, where the clock is due: after each long item or a batch of short ones.
            owes_a_look = owes_a_look || this_thread.outside.is_due();
            bool const others_first = ++turn % 4 == 0 && std::exchange(owes_a_look, false);
            op* const o = take(own, turn % 2 != 0, others_first);
            if (o) {
                base::at_scope_end const item([this] { work(-1); });
                loop::run_outside(*o);
                continue;
            }
            if (work_.load(std::memory_order_acquire) == 0)
                return;
            recycler_flush();
            parked_.fetch_add(1, std::memory_order_seq_cst);
            auto const seen = signals_.load(std::memory_order_seq_cst);
            if (queued_.load(std::memory_order_seq_cst) == 0 && !stopped_.load(std::memory_order_seq_cst) &&
                work_.load(std::memory_order_seq_cst) != 0)
                park::wait(signals_, seen, -1);
            parked_.fetch_sub(1, std::memory_order_seq_cst);
        }
    }
    void wake(bool all) noexcept {
        signals_.fetch_add(1, std::memory_order_seq_cst);
        if (all)
            park::wake_all(signals_);
        else
            park::wake_one(signals_);
    }

    op* take_from(queue& q) noexcept {
        if (q.size.load(std::memory_order_relaxed) == 0)
            return nullptr;
        std::lock_guard const lock(q.mutex);
        if (q.ops.empty())
            return nullptr;
        q.shrink(1);
        queued_.fetch_sub(1, std::memory_order_relaxed);
        return q.ops.pop_front();
    }
    op* take(queue* own, bool outside_first, bool others_first) noexcept {
        if (queued_.load(std::memory_order_relaxed) == 0)
            return nullptr;
        if (others_first)
            if (op* const o = steal(own))
                return o;
        if (outside_first)
            if (op* const o = take_from(outside_))
                return o;
        if (own)
            if (op* const o = take_from(*own))
                return o;
        if (op* const o = take_from(outside_))
            return o;
        return steal(own);
    }
    /// The older half of what another worker has queued: the first is the caller's, the rest goes to its queue.
    op* steal(queue* own) noexcept {
        auto const n = queues_.size();
        auto const first = own ? static_cast<std::size_t>(own - queues_.data()) + 1 : std::size_t{0};
        for (std::size_t i = 0; i != n; ++i) {
            queue& victim = queues_[(first + i) % n];
            if (&victim == own)
                continue;
            op* got = nullptr;
            op_queue loot;
            std::size_t half = 0;
            {
                std::lock_guard const lock(victim.mutex);
                half = (victim.size.load(std::memory_order_relaxed) + 1) / 2;
                if (half > 1 && !own)
                    half = 1;
                for (std::size_t k = 0; k != half; ++k) {
                    op* const o = victim.ops.pop_front();
                    if (got)
                        loot.push_back(*o);
                    else
                        got = o;
                }
                victim.shrink(half);
                if (got)
                    queued_.fetch_sub(1, std::memory_order_relaxed);
            }
            if (!loot.empty()) {
                std::lock_guard const lock(own->mutex);
                own->ops.splice_back(loot);
                own->grow(half - 1);
            }
            if (got)
                return got;
        }
        return nullptr;
    }
    op* take_any() noexcept {
        if (op* const o = take_from(outside_))
            return o;
        for (auto& q : queues_)
            if (op* const o = take_from(q))
                return o;
        return nullptr;
    }

    std::size_t const thread_count_;
    std::vector<queue, execution_context::allocator<queue>> queues_;
    queue outside_;
    alignas(64) std::atomic<std::size_t> queued_{0}; ///< in all queues, or about to be
    std::atomic<std::size_t> work_{1};               ///< queued, running and promised; 1 until joined
    std::atomic<std::uint32_t> signals_{0};
    std::atomic<std::uint32_t> parked_{0};
    std::atomic<bool> stopped_{false};
    std::atomic<bool> is_joined_{false};
    std::vector<park::thread, execution_context::allocator<park::thread>> threads_;
    rundown rundown_; ///< threads that are no workers: their last looks
};
constinit thread_local pool::worker* pool::worker::current = nullptr;

void pool_access::post(pool& p, op& o) noexcept { p.post(o); }
void pool_access::work(pool& p, int change) noexcept { p.work(change); }
std::size_t pool_access::threads(pool const& p) noexcept { return p.threads(); }
bool pool_access::is_running_here(pool const& p) noexcept { return p.is_running_here(); }

namespace {

std::size_t default_threads() { return std::max<std::size_t>(2 * park::processors(), 2); }

pool* make_pool(execution_context& context, std::size_t threads) {
    std::unique_ptr<pool> p(new (service_access::memory_of(context)) pool(context, threads));
    try {
        p->start(threads);
    } catch (...) {
        p->stop();
        p->join();
        throw;
    }
    return p.release();
}

} // namespace
} // namespace impl::exec

thread_pool::thread_pool() : thread_pool(impl::exec::default_threads()) {}
thread_pool::thread_pool(std::size_t threads) : pool_(impl::exec::make_pool(*this, threads)) {}
thread_pool::thread_pool(std::size_t threads, service_maker const& initial) : thread_pool(threads) {
    initial.make(*this);
}
thread_pool::thread_pool(impl::exec::context_memory_ref memory)
    : thread_pool(std::move(memory), impl::exec::default_threads()) {}
thread_pool::thread_pool(impl::exec::context_memory_ref memory, std::size_t threads)
    : execution_context(std::move(memory)),
      pool_(impl::exec::make_pool(*this, threads)) {}
thread_pool::~thread_pool() {
    stop();
    pool_->join();
    shutdown();
    destroy();
    delete pool_;
}
void thread_pool::stop() noexcept { pool_->stop(); }
void thread_pool::join() { pool_->join(); }
void thread_pool::attach() { pool_->attach(); }

system_context::system_context() : pool_(impl::exec::make_pool(*this, impl::exec::default_threads())) {}
system_context::~system_context() {
    pool_->stop();
    pool_->join();
    shutdown();
    destroy();
    delete pool_;
}
system_context& system_context::the() {
    static system_context one;
    return one;
}
void system_context::stop() noexcept { pool_->stop(); }
bool system_context::stopped() const noexcept { return pool_->stopped(); }
void system_context::join() { pool_->join(); }

} // namespace fairlead
