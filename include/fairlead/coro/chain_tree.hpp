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

/// How a member has ended.
enum class member_end : unsigned char {
    destroyed, ///< it has no result
    value,
    failure, ///< by an exception that concerns the group
};

/// The rest of the work for a member that has ended.
struct member_rest {
    bool tells_owner = false;   ///< while it still counts
    bool is_given_back = false; ///< as soon as nobody looks at it
};

/// The place below a group of a chain, or of an operation that no coroutine awaits, with the requests to it. It lies in
/// the memory of whoever makes the group, and outlives the group. A member leaves when it has ended and nobody refers
/// to its requests any more.
class group_member {
public:
    group_member(group_member const&) = delete;
    group_member& operator=(group_member const&) = delete;

    bool is_to_be_destroyed() const noexcept { return destroys_.load(std::memory_order_relaxed); }
    bool is_asked() const noexcept { return is_to_be_destroyed() || !!requests_.state.cancelled(); }
    chain_group const* group() const noexcept { return group_; }

protected:
    group_member() noexcept
        : signal_(*this),
          requests_{.parent = {}, .state = cancellation_state(signal_), .first = {}} {}
    virtual ~group_member() = default;

    virtual void start() = 0;
    /// Passes a request on. It may have ended meanwhile.
    virtual void ask(cancellation_type type) = 0;
    /// As ask(), if that calls nobody's function. False: ask() is still to be called.
    virtual bool ask_in_place(cancellation_type) noexcept { return false; }
    /// Under the lock of the group, when it has ended.
    virtual member_rest leaves() noexcept { return {}; }
    /// Gives it back.
    virtual void forgotten() noexcept {}

    /// It has ended. It may be gone afterwards.
    FAIRLEAD_EXPORT void leave(member_end how) noexcept;

    struct own_signal : operation::chained_signal {
        group_member& owner;
        explicit own_signal(group_member& m) noexcept : chained_signal(&group_member::requests_have_gone), owner(m) {}
    };
    own_signal signal_;
    operation::chain_requests requests_;

private:
    friend class chain_group;
    friend class tree_walk;
    FAIRLEAD_EXPORT static void requests_have_gone(operation::chained_signal& s) noexcept;

    chain_group* group_ = nullptr;
    group_member* next_ = nullptr;
    group_member* previous_; ///< like its chain, of one that is in a group
    await_record* chain_;
    std::atomic<bool> destroys_{false}; ///< the requests mean that the chain is to be destroyed
    member_end end_ = member_end::destroyed;

    template <class Root> friend struct hooks_of_member;
};

/// The functions that a root which is a member has for others.
template <class Root> struct hooks_of_member {
    static group_member& of(await_record& r) noexcept { return static_cast<Root&>(r); }
    static bool is_asked(await_record& r) noexcept { return of(r).is_asked(); }
    static operation::chain_requests& requests(await_record& r) noexcept { return of(r).requests_; }
    static group_member const& member(await_record const& r) noexcept { return static_cast<Root const&>(r); }
    static bool is_to_be_destroyed(await_record const& r) noexcept { return member(r).is_to_be_destroyed(); }
};

/// A chain below a group: its root is the member.
class FAIRLEAD_EXPORT member_chain : public group_member, public spawn_root {
protected:
    FAIRLEAD_EXPORT explicit member_chain(exec::record_hooks const& h) noexcept;
    FAIRLEAD_EXPORT void start() override;
    FAIRLEAD_EXPORT void ask(cancellation_type type) override;
    /// The end of one that was destroyed.
    FAIRLEAD_EXPORT void has_been_destroyed() noexcept;
    FAIRLEAD_EXPORT void end_chain(member_end how) noexcept;
    /// Gives back what its coroutine needed.
    virtual void release() noexcept {}

private:
    friend class chain_group;
    cancellation_signal asked_; ///< in its slot, the handler of a state that the coroutine has made or asked for
};

/// With what the chain ends with.
template <class T> class member_of : public member_chain {
public:
    std::optional<typename spawn_values<T>::type> result; ///< none: it was destroyed

protected:
    member_of() noexcept : member_chain(the_hooks) {}
    /// The coroutine of the chain.
    virtual awaitable<T> begin() = 0;
    /// Whether an end by this exception is a failure for the group.
    virtual bool is_failure(std::exception_ptr const& e) noexcept { return e != nullptr; }

private:
    void step() {
        bool const begins = !child();
        if (begins && begin_chain())
            return;
        if (!begins)
            result.emplace(take_result_of<T>(child()));
        if (is_inside_co_spawn())
            exec::this_thread.starting = nullptr;
        end_chain(is_failure(std::get<0>(*result)) ? member_end::failure : member_end::value);
    }
    /// False: it has ended by an exception before there was a coroutine.
    bool begin_chain() noexcept {
        try {
            if (is_asked())
                base::throw_error_now(error::make_error_code(error::operation_aborted), "co_spawn");
            awaitable<T> a(begin());
            auto& promise = awaitable_access::promise(a);
            await(promise, awaitable_access::release(a));
            return true;
        } catch (...) {
            result.emplace(failed_chain<T>(std::current_exception()));
            return false;
        }
    }

    using hooks = hooks_of_member<member_of>;
    static constexpr exec::record_hooks the_hooks{
        .resume = [](await_record* r) { static_cast<member_of*>(r)->step(); },
        .abandon = &destroy_chain,
        .destroy = [](await_record* r) { static_cast<member_of*>(r)->has_been_destroyed(); },
        .is_asked = &hooks::is_asked,
        .requests = &hooks::requests,
        .member = &hooks::member,
        .is_to_be_destroyed = &hooks::is_to_be_destroyed,
    };
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

/// An object that counts the members of a group.
class group_owner {
public:
    group_owner(group_owner const&) = delete;
    group_owner& operator=(group_owner const&) = delete;

    /// A member that `tells_owner` has left. Without the lock: it may run anybody's executor.
    virtual void member_has_left() noexcept = 0;

protected:
    group_owner() noexcept = default;
    ~group_owner() = default;
};

/// The chains that a chain awaits together. The group completes when the last of them has ended, also when all have
/// been asked to end. One that was destroyed, by destroy() or by the end of its context, has no result.
/// Threads    add() and the await: one. Members may run anywhere; ask() and destroy() are called from anywhere while
///            the group is awaited
/// Allocates  nothing
class chain_group {
public:
    explicit chain_group(group_end asks_at = group_end::of_all, group_hearing hearing = group_hearing::asks_members,
                         group_owner* owner = nullptr) noexcept
        : owner_(owner),
          asks_at_(asks_at),
          hearing_(hearing) {}
    chain_group(chain_group const&) = delete;
    chain_group& operator=(chain_group const&) = delete;
    /// Members that were not started are destroyed.
    FAIRLEAD_EXPORT ~chain_group();

    /// Before the start: what the others are asked for when a member decides.
    void asks_for(cancellation_type type) noexcept { asks_for_ = type; }
    /// A chain, which starts on `e` when the group is awaited.
    void add(member_chain& m, any_io_executor const& e) {
        settle(m, e);
        add(m, m);
    }
    static void settle(member_chain& m, any_io_executor const& e) noexcept { m.settle(e); }
    /// A member with its record.
    FAIRLEAD_EXPORT void add(group_member& m, await_record& record) noexcept;

    /// While a member runs, under the lock: takes in one more. The caller starts it afterwards, or destroys it. False:
    /// the members have been asked to end.
    bool enter(group_member& m, await_record& record) noexcept {
        if (!!asked_ || decided_by_)
            return false;
        take_in(m, record);
        return true;
    }
    /// Of the members, and of what their owner counts.
    exec::short_lock& lock() noexcept { return lock_; }
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
    /// While it is awaited: whether the chain that awaits it keeps this home.
    bool keeps(resumer const* home) const noexcept {
        return awaited_by_ && awaited_by_->keeps_home && awaited_by_->home == home;
    }
    /// The member at whose end the others were asked. Null: there was none.
    group_member const* decided_by() const noexcept { return decided_by_; }

private:
    friend class tree_walk;
    friend class group_member;

    void take_in(group_member& m, await_record& record) noexcept {
        m.group_ = this;
        m.chain_ = &record;
        m.previous_ = last_;
        (last_ ? last_->next_ : first_) = &m;
        last_ = &m;
        ++running_;
    }
    void take_out(group_member& m) noexcept;
    void member_leaves(group_member& m) noexcept;
    bool goes_after_the_walk(group_member& m) noexcept;
    void forget_all(group_member* gone) noexcept;
    void one_less() noexcept;
    bool was_the_last() noexcept;
    void complete() noexcept;
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
    group_owner* owner_; ///< null: nobody is told
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

/// The tree below a chain, one line for each coroutine, the innermost of a chain first. Called where everything below
/// is at home, and by one thread.
FAIRLEAD_EXPORT std::string tree_below(await_record const& r);
/// The whole tree that the chain is in.
FAIRLEAD_EXPORT std::string whole_tree(await_record const& r);

} // namespace fairlead::impl::coro
