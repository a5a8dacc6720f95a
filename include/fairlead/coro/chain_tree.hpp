// The tree of chains. Its nodes are chains, and groups: several chains that another chain awaits.
//
// A chain that awaits a group has the group's address in its bytes. A group has a list of its members, and a member
// knows its group. So a walk over a subtree needs no stack. There are three: one asks everything below to end, one
// destroys it, one writes it out (src/coro/tree_text.cpp).
//
// The first two are one walk. A group asks its members in the queue of its home, some in each turn. A member that
// awaits a group itself passes the request on in the same way. Thus neither the depth of a tree nor its width is
// bounded by a stack, or by the length of a turn. A chain that is to be destroyed is asked, too. When what it awaits
// has ended it is destroyed in place of being resumed.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/short_lock.hpp>

#include <optional>
#include <string>

namespace fairlead::impl::coro {

class chain_group;

/// A member shares it with the walk that asks, which may be in another thread.
struct member_signal {
    cancellation_signal signal;
    std::atomic<bool> destroys{false}; ///< the requests mean that the chain is to be destroyed
    std::atomic<unsigned> references{1};
};

/// The place of a chain below a group, in the memory of whoever makes the group. It outlives the group.
class group_member {
public:
    group_member() noexcept = default;
    group_member(group_member const&) = delete;
    group_member& operator=(group_member const&) = delete;

    bool is_to_be_destroyed() const noexcept { return signal_->destroys.load(std::memory_order_relaxed); }

private:
    friend class chain_group;
    friend class tree_walk;
    template <class> friend class member_handler;

    chain_group* group_ = nullptr;
    group_member* next_ = nullptr;
    group_member* previous_ = nullptr;
    spawn_root* chain_ = nullptr; ///< null when it has ended
    exec::shared_block<member_signal> signal_;
};

/// A member with what its chain ends with.
template <class T> struct member_of : group_member {
    std::optional<typename spawn_values<T>::type> result; ///< none: it was destroyed
};

/// The chains that a chain awaits together. The group completes when the last of them has ended, also when all have
/// been asked to end. One that was destroyed, by destroy() or by the end of its context, has no result.
/// Threads    add() and the await: one. Members may run anywhere; ask() and destroy() are called from anywhere while
///            the group is awaited
/// Allocates  for each member blocks of the recycler: root, signal, state
class chain_group {
public:
    chain_group() noexcept = default;
    chain_group(chain_group const&) = delete;
    chain_group& operator=(chain_group const&) = delete;
    /// Members that were not started are destroyed.
    FAIRLEAD_EXPORT ~chain_group();

    /// Makes a chain of `a`, which starts on `e` when the group is awaited.
    template <class T> void add(member_of<T>& m, any_io_executor const& e, awaitable<T> a);

    /// Everything below is asked to end, as far as it lets `type` through. Nothing happens when all has ended.
    FAIRLEAD_EXPORT void ask(cancellation_type type) noexcept;
    /// Everything below is destroyed. A chain goes when what it awaits has ended; that is asked to end.
    FAIRLEAD_EXPORT void destroy() noexcept;

    class awaiter {
    public:
        explicit awaiter(chain_group& g) noexcept : group_(g) {}
        bool await_ready() const noexcept { return false; }
        template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) {
            return group_.start_all(*h.promise().link.record);
        }
        void await_resume() { group_.rethrow_refusal(); }

    private:
        chain_group& group_;
    };
    /// `co_await g.run()`: starts the members, and ends when all have ended.
    awaiter run() noexcept { return awaiter(*this); }

private:
    friend class tree_walk;
    template <class> friend class member_handler;

    FAIRLEAD_EXPORT void prepare(group_member& m);
    FAIRLEAD_EXPORT void append(group_member& m, spawn_root& chain) noexcept;
    FAIRLEAD_EXPORT bool start_all(await_record& r);
    FAIRLEAD_EXPORT void rethrow_refusal();
    FAIRLEAD_EXPORT static void chain_has_gone(group_member& m) noexcept;
    FAIRLEAD_EXPORT void one_less() noexcept;
    bool has_ended() noexcept;
    static bool have_all_ended(await_record& r) noexcept;
    void begin_walk(cancellation_type type, bool destroys) noexcept;
    static void ask_awaited(void* storage, await_record& r, cancellation_type type) noexcept;
    static void walk(op* o, op_mode mode);
    void ask_some();

    struct walk_op : op {
        chain_group* group;
    };
    await_record* awaited_by_ = nullptr;
    group_member* first_ = nullptr;
    group_member* last_ = nullptr;
    group_member* next_to_ask_ = nullptr;
    std::size_t running_ = 0; ///< members, the start, and the walk
    cancellation_type asked_ = cancellation_type::none;
    bool has_started_ = false;
    bool is_walking_ = false;
    bool destroys_ = false;
    exec::short_lock lock_; ///< nobody calls anything under it
    walk_op walk_op_;
};

/// In the bytes of a chain that awaits a group.
struct awaited_group {
    chain_group* group;
};

/// The handler of a member's chain.
template <class T> class member_handler {
public:
    using cancellation_slot_type = cancellation_slot;

    explicit member_handler(member_of<T>& m) noexcept : member_(&m) {}
    member_handler(member_handler&& other) noexcept : member_(std::exchange(other.member_, nullptr)) {}
    member_handler& operator=(member_handler&&) = delete;
    ~member_handler() {
        if (member_)
            member_->group_->one_less();
    }

    group_member const& member() const noexcept { return *member_; }
    bool is_to_be_destroyed() const noexcept { return member_->is_to_be_destroyed(); }
    void chain_has_gone() noexcept { chain_group::chain_has_gone(*member_); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return member_->signal_->signal.slot(); }
    template <class... Values> void operator()(Values... values) {
        auto& m = *std::exchange(member_, nullptr);
        m.result.emplace(std::move(values)...);
        m.group_->one_less();
    }

private:
    member_of<T>* member_;
};

template <class T> void chain_group::add(member_of<T>& m, any_io_executor const& e, awaitable<T> a) {
    using root = spawned<T, give_awaitable<T>, member_handler<T>>;
    prepare(m);
    member_handler<T> handler(m);
    append(m, *operation::allocate_with<root>(handler, e, give_awaitable<T>{std::move(a)}, std::move(handler)));
}

/// The tree below a chain, one line for each coroutine, the innermost of a chain first. Called where everything below
/// is at home, and by one thread.
FAIRLEAD_EXPORT std::string tree_below(await_record const& r);
/// The whole tree that the chain is in.
FAIRLEAD_EXPORT std::string whole_tree(await_record const& r);

} // namespace fairlead::impl::coro
