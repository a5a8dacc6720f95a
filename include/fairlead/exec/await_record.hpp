// The record that a suspended coroutine lends to the operation it awaits.
//
// One record for each coroutine, in its promise: a coroutine awaits one thing at a time. The fixed part names the
// coroutine to be resumed and its home. The lendable bytes have one user at a time: the op of a library primitive, the
// block of a generic operation, or afterwards the result. (For a generic operation they are the handler's associated
// allocator.) Thus the state of an awaited operation lies in the coroutine's frame (P0055). An operation that follows
// P0162's rule (free before the handler runs) finds the bytes free again at each step.
#pragma once

#include <fairlead/exec/op.hpp>

#include <coroutine>
#include <new> // launder
#include <type_traits>

namespace fairlead {

class resumer;

struct await_record;

namespace detail {

/// The requests that the coroutines of a chain have got (token/chain_requests.hpp).
struct chain_requests;

/// The differences of a record from that of a coroutine of ours on a loop of ours. Null, here or in the record, means
/// that there is none.
struct record_hooks {
    void (*resume)(await_record*);  ///< instead of resuming the handle, which is null
    void (*abandon)(await_record*); ///< instead of dooming the root of the await chain
    void (*destroy)(await_record*); ///< instead of destroying the handle's frame
    // Of a root whose chain can be asked to end early:
    bool (*is_asked)(await_record&) noexcept;
    chain_requests& (*requests)(await_record&) noexcept;
};

enum class await_state : unsigned char {
    idle,      ///< nothing prepared
    prepared,  ///< the op lies in the bytes and was found not ready
    exhausted, ///< the budget was used up before anything was tried
    failed,    ///< an exception lies where the result would
    plain,     ///< the op in the bytes will hold the result as plain error and count: no call is needed to read it
    stored,    ///< the result lies where that of a generic operation does, whatever the operation is
};

/// Takes away the rest of the item's budget if the chain is to end. The next await then does not try, and its start
/// asks.
FAIRLEAD_EXPORT void heed_requests(await_record& r) noexcept;
/// Whether the chain of `r` has been asked to end early, and does. Only for records that `can_be_asked`.
bool is_to_end(await_record& r) noexcept;

} // namespace detail

/// The part of an awaited operation that lies in the frame of the suspended coroutine: the op and its state, in these
/// bytes. For authors of awaiters; programs meet it in compiler messages only.
struct await_record {
    static constexpr std::size_t lendable = 128;
    /// As much of it as the ops take that start, resume or destroy a chain: its root may keep things in the rest.
    static constexpr std::size_t root_ops = 64;

    std::coroutine_handle<> handle;
    resumer* home;                  ///< where the coroutine runs
    await_record* parent;           ///< the coroutine that awaits this one, null for a root
    std::coroutine_handle<>* owner; ///< what holds the frame of a coroutine that has a parent
    detail::record_hooks const* hooks;
    bool lent;           ///< a generic operation holds a block in the bytes
    unsigned char notes; ///< for whoever resumes the coroutine, of the following
    detail::await_state state;
    bool doomed; ///< root: destroyed when its context has no op left
    alignas(16) std::byte bytes[lendable];

    static constexpr unsigned char is_foreign = 1;   ///< the op belongs to a loop that is not home, which counts it
    static constexpr unsigned char can_be_asked = 2; ///< somebody may ask the chain to end early
    static constexpr unsigned char goes_on = 4;      ///< root: awaits begin also when the chain has been asked to end

    await_record() noexcept
        : parent(nullptr),
          owner(nullptr),
          hooks(nullptr),
          lent(false),
          notes(0),
          state{},
          doomed(false) {}
    await_record(await_record const&) = delete;
    await_record& operator=(await_record const&) = delete;

    template <class Record> static constexpr bool fits = sizeof(Record) <= lendable && alignof(Record) <= 16;

    template <class Record> Record& make() noexcept {
        static_assert(fits<Record>, "the record of this operation does not fit into an await record");
        FAIRLEAD_ASSERT_SLOW(!lent);
        return *::new (static_cast<void*>(bytes)) Record;
    }
    template <class Record> Record const& get() const noexcept {
        return *std::launder(reinterpret_cast<Record const*>(bytes));
    }
    template <class Record> Record& get() noexcept { return *std::launder(reinterpret_cast<Record*>(bytes)); }

    /// The record in whose bytes `o` lies (valid for ops whose run is null).
    static await_record& of(op& o) noexcept {
        return *reinterpret_cast<await_record*>(reinterpret_cast<std::byte*>(&o) - offset());
    }
    static constexpr std::size_t offset() noexcept { return 48; }
    /// The root of the chain.
    await_record& root() noexcept {
        await_record* r = this;
        while (r->parent)
            r = r->parent;
        return *r;
    }
};
static_assert(std::is_standard_layout_v<await_record>);
static_assert(offsetof(await_record, bytes) == await_record::offset());
static_assert(sizeof(await_record) == 176);

inline bool detail::is_to_end(await_record& r) noexcept {
    auto& root = r.root();
    return !(root.notes & await_record::goes_on) && root.hooks->is_asked(root);
}

} // namespace fairlead
