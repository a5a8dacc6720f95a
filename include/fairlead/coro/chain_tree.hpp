// The tree of chains. Its nodes are chains, and groups: several chains that another chain awaits.
//
// A chain that awaits a group has the group's address in its bytes. A group has a list of its members, and a member
// knows its group. So a walk over a subtree needs no stack. There are three: one asks everything below to end, one
// destroys it, one writes it out (src/coro/tree_text.cpp).
//
// The first two are one walk. A group asks its members in the queue of its home, some in each turn. A member that
// awaits a group itself passes the request on in the same way. Thus neither the depth of a tree nor its width is
// bounded by a stack, or by the length of a turn. If a member has made the group ask, the first members that are
// operations are asked at once: that goes no deeper. A chain that is to be destroyed is asked, too. When what it awaits
// has ended it is destroyed in place of being resumed.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/short_lock.hpp>

#include <optional>
#include <string>

namespace fairlead::impl::coro {

class chain_group;
template <class T> class member_handler;

/// The place below a group of a chain, or of an operation that no coroutine awaits. It lies in the memory of whoever
/// makes the group, and outlives the group.
class group_member {
public:
    group_member(group_member const&) = delete;
    group_member& operator=(group_member const&) = delete;

    bool is_to_be_destroyed() const noexcept { return destroys_.load(std::memory_order_relaxed); }
    chain_group const* group() const noexcept { return group_; }

protected:
    group_member() noexcept = default;
    virtual ~group_member() = default;

    virtual void start(await_record& chain) = 0;
    /// Passes a request on. It may have ended meanwhile.
    virtual void ask(cancellation_type type) = 0;
    /// As ask(), if that calls nobody's function. False: ask() is still to be called.
    virtual bool ask_in_place(cancellation_type) noexcept { return false; }
    /// It has ended, or was destroyed, and still counts. It may give itself back by chain_group::forget().
    virtual void has_left() noexcept {}
    /// After forget().
    virtual void forgotten() noexcept {}
    /// Whether an end by this exception is a failure for the group.
    virtual bool is_failure(std::exception_ptr const& e) noexcept { return e != nullptr; }

private:
    friend class chain_group;
    friend class tree_walk;
    template <class> friend class member_handler;
    friend class operation_root;

    chain_group* group_ = nullptr;
    group_member* next_ = nullptr;
    group_member* previous_ = nullptr;
    await_record* chain_ = nullptr;     ///< null when it has ended
    std::atomic<bool> destroys_{false}; ///< the requests mean that the chain is to be destroyed
};

/// A chain below a group, with what it ends with.
template <class T> struct member_of : group_member {
    std::optional<typename spawn_values<T>::type> result; ///< none: it was destroyed
    cancellation_signal signal;

private:
    void start(await_record& chain) override { static_cast<spawn_root&>(chain).start(); }
    void ask(cancellation_type type) override { signal.emit(type); }
};

/// The end of a member at which a group asks the others to end. That member decides.
enum class group_end : unsigned char {
    of_all,        ///< nothing: all are waited for
    first_failure, ///< one that ends by an exception
    first_success, ///< one that ends without an exception
    first,         ///< one that ends, however it does
};

/// The effect of a request to the awaiting chain on the members of its group.
enum class group_hearing : bool {
    asks_members,
    waits_for_members, ///< the chain hears of it afterwards; only its destruction reaches the members
};

/// The chains that a chain awaits together. The group completes when the last of them has ended, also when all have
/// been asked to end. One that was destroyed, by destroy() or by the end of its context, has no result.
/// Threads    add() and the await: one. Members may run anywhere; ask() and destroy() are called from anywhere while
///            the group is awaited
/// Allocates  for each chain blocks of the recycler: root, handler in the slot, state; nothing for an operation
class chain_group {
public:
    explicit chain_group(group_end asks_at = group_end::of_all,
                         group_hearing hearing = group_hearing::asks_members) noexcept
        : asks_at_(asks_at),
          hearing_(hearing) {}
    chain_group(chain_group const&) = delete;
    chain_group& operator=(chain_group const&) = delete;
    /// Members that were not started are destroyed.
    FAIRLEAD_EXPORT ~chain_group();

    /// Before the start: what the others are asked for when a member decides.
    void asks_for(cancellation_type type) noexcept { asks_for_ = type; }
    /// Makes a chain of `a`, which starts on `e` when the group is awaited.
    template <class T> void add(member_of<T>& m, any_io_executor const& e, awaitable<T> a);
    /// A member that brings its record.
    void add(group_member& m, await_record& record) {
        prepare(m);
        append(m, record);
    }

    /// While a member runs: makes a place for one more. False: the members have been asked to end.
    FAIRLEAD_EXPORT bool enter(group_member& m) noexcept;
    /// Then starts it, with the awaitable that `f` returns. `h` is a handler of `m`; it counts as the member until it
    /// is moved.
    template <class T, class F>
    void start_entered(member_of<T>& m, any_io_executor const& e, member_handler<T>&& h, F&& f);
    /// Calls m.forgotten() as soon as nobody looks at `m` any more. It has left.
    FAIRLEAD_EXPORT void forget(group_member& m) noexcept;

    /// Everything below is asked to end, as far as it lets `type` through. Nothing happens when all has ended.
    FAIRLEAD_EXPORT void ask(cancellation_type type) noexcept;
    /// As ask(), for all but one of the members.
    FAIRLEAD_EXPORT void ask_all_but(group_member const& spared, cancellation_type type) noexcept;
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

    // The steps of that, for other awaiters.
    /// False: all have ended.
    FAIRLEAD_EXPORT bool start_all(await_record& r);
    FAIRLEAD_EXPORT void rethrow_refusal();
    /// The member at whose end the others were asked. Null: there was none.
    group_member const* decided_by() const noexcept { return decided_by_; }

private:
    friend class tree_walk;
    template <class> friend class member_handler;
    friend class operation_root;

    FAIRLEAD_EXPORT void prepare(group_member& m);
    FAIRLEAD_EXPORT void append(group_member& m, await_record& chain) noexcept;
    FAIRLEAD_EXPORT void start_entered(group_member& m, await_record& chain);
    FAIRLEAD_EXPORT static void member_has_left(group_member& m) noexcept;
    void forget_all(group_member* gone) noexcept;
    FAIRLEAD_EXPORT static void chain_has_gone(group_member& m) noexcept;
    FAIRLEAD_EXPORT void has_ended(group_member& m, bool failed) noexcept;
    FAIRLEAD_EXPORT void one_less() noexcept;
    bool was_the_last() noexcept;
    static bool have_all_ended(await_record& r) noexcept;
    enum class walk_begins : bool { soon, at_once };
    void begin_walk(cancellation_type type, bool destroys, walk_begins when,
                    group_member const* spared = nullptr) noexcept;
    static void ask_awaited(void* storage, await_record& r, cancellation_type type) noexcept;
    static void only_destroy_awaited(void* storage, await_record& r, cancellation_type type) noexcept;
    static void walk(op* o, op_mode mode);
    bool ask_some_in_place() noexcept;
    void ask_some();

    struct walk_op : op {
        chain_group* group;
    };
    await_record* awaited_by_ = nullptr;
    group_member* first_ = nullptr;
    group_member* last_ = nullptr;
    group_member* next_to_ask_ = nullptr;
    group_member* decided_by_ = nullptr;
    group_member const* spared_ = nullptr;
    group_member* gone_ = nullptr; ///< to be forgotten when the walk is over
    std::size_t running_ = 0;      ///< members, the start, and the walk
    cancellation_type asked_ = cancellation_type::none;
    cancellation_type asks_for_ = cancellation_type::all;
    group_end asks_at_;
    group_hearing hearing_;
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
            chain_group::member_has_left(*member_);
    }

    group_member const& member() const noexcept { return *member_; }
    bool is_to_be_destroyed() const noexcept { return member_->is_to_be_destroyed(); }
    void chain_has_gone() noexcept { chain_group::chain_has_gone(*member_); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return member_->signal.slot(); }
    template <class... Values> void operator()(std::exception_ptr e, Values... values) {
        auto& m = *std::exchange(member_, nullptr);
        bool const failed = m.is_failure(e);
        m.result.emplace(std::move(e), std::move(values)...);
        m.group_->has_ended(m, failed);
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

template <class T, class F>
void chain_group::start_entered(member_of<T>& m, any_io_executor const& e, member_handler<T>&& h, F&& f) {
    using function = std::decay_t<F>;
    using root = spawned<T, function, member_handler<T>>;
    start_entered(m, *operation::allocate_with<root>(h, e, function(std::forward<F>(f)), std::move(h)));
}

/// The tree below a chain, one line for each coroutine, the innermost of a chain first. Called where everything below
/// is at home, and by one thread.
FAIRLEAD_EXPORT std::string tree_below(await_record const& r);
/// The whole tree that the chain is in.
FAIRLEAD_EXPORT std::string whole_tree(await_record const& r);

} // namespace fairlead::impl::coro
