// The promises of every run of the core, whatever happens in it: an account of operations, memory, frames and stack.
//
// An operation completes once, or it is given up once when its context goes. The memory of its handler is returned
// before the handler runs. A frame or handler is destroyed as often as it was made. The stack does not grow.
#pragma once

#include <fairlead/sim/world.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::test {

class ledger {
public:
    explicit ledger(sim::world& w) : world_(w) {
        w.step_limit(500'000); // Nothing here takes a tenth of that: what turns in circles is to be seen soon.
    }
    ledger(ledger const&) = delete;
    ledger& operator=(ledger const&) = delete;
    /// A run that has failed leaves operations behind, whose handlers must not outlive this.
    ~ledger() {
        if ((pending_ != 0 || living != 0) && !has_world_gone_)
            end_everything();
    }

    /// Operations on that host count, too.
    void covers(sim::host& h) { hosts_.push_back(&h); }
    /// Destroys all that is pending on these hosts and in the world's own context. Nothing completes any more.
    void end_everything() {
        closing_ = true;
        for (auto* h : hosts_)
            h->kill();
        world_.context().abandon_all();
    }
    /// To be said before the world is destroyed with all that is pending. From then on nothing completes any more.
    void world_goes() noexcept { closing_ = has_world_gone_ = true; }

    /// Something that must not be. The first ones are kept, for the report of a seed.
    void fault(std::string_view what) {
        if (++faults_ <= 5)
            text_.append(what).append("; ");
    }
    void check(bool good, std::string_view otherwise) {
        if (!good)
            fault(otherwise);
    }
    /// Empty: all is well so far.
    std::string const& faults() const noexcept { return text_; }

    // ---- operations
    std::size_t open() {
        entries_.push_back({});
        ++pending_;
        return entries_.size() - 1;
    }
    void complete(std::size_t id) {
        auto& e = entries_[id];
        check(e.state == state::pending, "an operation completes although it is over");
        check(e.blocks == 0, "a handler runs before its memory has been returned");
        check(!closing_, "a handler is called while its context is being destroyed");
        end(e, state::completed);
        touch_stack();
    }
    void give_up(std::size_t id) {
        auto& e = entries_[id];
        check(e.state == state::pending, "an operation is given up although it is over");
        check(closing_, "an operation is lost: its handler is destroyed without having been called");
        end(e, state::given_up);
    }
    void block(std::size_t id, int change) {
        entries_[id].blocks += change;
        blocks_ += change;
    }
    std::size_t pending() const noexcept { return pending_; }
    std::size_t operations() const noexcept { return entries_.size(); }

    // ---- stack
    /// The caller is where a run begins.
    void stack_begins() noexcept { base_ = stack_is_at(); }
    void touch_stack() {
        auto const at = stack_is_at();
        if (base_ == 0)
            return;
        auto const deep = at < base_ ? base_ - at : at - base_;
        if (deep > stack_most && std::exchange(stack_is_deep_, true) == false)
            fault("the stack is " + std::to_string(deep) + " bytes deep");
    }

    /// To be asked when everything is over.
    void settle() {
        check(pending_ == 0, std::to_string(pending_) + " operations never completed");
        check(blocks_ == 0, std::to_string(blocks_) + " blocks of handlers leak");
        check(living == 0, std::to_string(living) + " frames or handlers are still there, or were destroyed too often");
    }

    std::int64_t living = 0; ///< frames and handlers, see alive

private:
    // The address of a local variable would not do: AddressSanitizer keeps those in a stack of its own.
    static std::uintptr_t stack_is_at() noexcept {
        return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    }

    // The stack of sixteen handlers inside one another in a build for debugging with a sanitizer, several times over.
    static constexpr std::size_t stack_most = 256 * 1024;
    enum class state : unsigned char { pending, completed, given_up };
    struct entry {
        enum state state = state::pending;
        int blocks = 0;
    };
    void end(entry& e, enum state s) noexcept {
        if (e.state == state::pending)
            --pending_;
        e.state = s;
    }

    sim::world& world_;
    std::vector<sim::host*> hosts_;
    std::vector<entry> entries_;
    std::size_t pending_ = 0;
    std::int64_t blocks_ = 0;
    std::uint64_t faults_ = 0;
    std::uintptr_t base_ = 0;
    std::string text_;
    bool closing_ = false;
    bool has_world_gone_ = false;
    bool stack_is_deep_ = false;
};

/// Lies in a frame or a handler, usually as a parameter, and notices when it is destroyed twice.
class alive {
public:
    explicit alive(ledger& l) noexcept : ledger_(&l) { ++l.living; }
    alive(alive const& other) noexcept : alive(*other.ledger_) {}
    alive& operator=(alive const&) = delete;
    ~alive() {
        if (mark_ != living_mark)
            std::abort(); // Its ledger may be gone as well: nothing but the process is left to say so.
        mark_ = ~living_mark;
        --ledger_->living;
    }

private:
    static constexpr std::uint32_t living_mark = 0x600d600d;
    ledger* ledger_;
    std::uint32_t volatile mark_ = living_mark; // or the compiler would leave the last store out
};

/// The allocator of one operation's handler: counts, and spoils what it gets back.
template <class T> class operation_memory {
public:
    using value_type = T;
    operation_memory(ledger* l, std::size_t id) noexcept : ledger_(l), id_(id) {}
    template <class U> operation_memory(operation_memory<U> const& o) noexcept : ledger_(o.ledger_), id_(o.id_) {}
    T* allocate(std::size_t n)
        requires(sizeof(T) != 0)
    {
        ledger_->block(id_, +1);
        return static_cast<T*>(::operator new(n * sizeof(T)));
    }
    void deallocate(T* p, std::size_t n) noexcept
        requires(sizeof(T) != 0)
    {
        ledger_->block(id_, -1);
        std::memset(static_cast<void*>(p), 0xdd, n * sizeof(T));
        ::operator delete(p);
    }
    template <class U> friend bool operator==(operation_memory const& a, operation_memory<U> const& b) noexcept {
        return a.id_ == b.id_;
    }

    ledger* ledger_;
    std::size_t id_;
};

/// A handler with an account.
template <class F> class once {
public:
    using allocator_type = operation_memory<char>;

    once(ledger& l, F f) : ledger_(&l), id_(l.open()), function_(std::move(f)) {}
    once(once&& o) noexcept
        : ledger_(o.ledger_),
          id_(o.id_),
          is_open_(std::exchange(o.is_open_, false)),
          function_(std::move(o.function_)) {}
    once& operator=(once&&) = delete;
    ~once() {
        if (is_open_)
            ledger_->give_up(id_);
    }
    allocator_type get_allocator() const noexcept { return {ledger_, id_}; }
    template <class... Args> void operator()(Args&&... args) {
        is_open_ = false;
        ledger_->complete(id_);
        function_(std::forward<Args>(args)...);
    }

private:
    ledger* ledger_;
    std::size_t id_;
    bool is_open_ = true;
    F function_;
};
template <class F> once(ledger&, F) -> once<F>;

} // namespace fairlead::test
