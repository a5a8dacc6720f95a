// The record that a chain of coroutines lends to the operation it awaits.
//
// A chain is the coroutines that await one another; only its innermost awaits an operation. So there is one record for
// each chain, in its root. Each coroutine of it has a link. The fixed part of the record names the innermost coroutine,
// and where the chain runs. The lendable bytes have one user at a time: the op of a library primitive, the block of a
// generic operation, or afterwards the result. (For a generic operation they are the handler's associated allocator.)
// Thus the state of an awaited operation lies in the awaiting chain (P0055). An operation that follows P0162's rule
// (free before the handler runs) finds the bytes free again at each step.
#pragma once

#include <fairlead/exec/op.hpp>

#include <coroutine>
#include <cstdint>
#include <new> // launder

namespace fairlead {

class any_io_executor;
class resumer;

struct await_record;

namespace impl::operation {
/// The requests that the coroutines of a chain have got (operation/chain_requests.hpp).
struct chain_requests;
} // namespace impl::operation
namespace impl::coro {
/// The place of a chain below a group (coro/chain_tree.hpp).
class group_member;
} // namespace impl::coro

namespace impl::exec {

/// One coroutine of a chain, at the beginning of its promise. Its address tells the coroutine's handle, so that nobody
/// has to load that: a chain that is alone waits for each load of its resumption.
struct chain_link {
    chain_link* parent;             ///< the coroutine that awaits this one, null for the outermost
    std::coroutine_handle<>* owner; ///< what holds the frame of this one
    await_record* record;           ///< of the chain; not known before it is awaited or spawned
    void const* place;              ///< of its latest co_await (coro/await_place.hpp); null: not noted

    chain_link() noexcept : owner(nullptr), place(nullptr) {}
    chain_link(chain_link const&) = delete;
    chain_link& operator=(chain_link const&) = delete;

    /// Two pointers lie before a promise, in every ABI of coroutines here, unless it is aligned to more than those.
    static constexpr std::size_t promise_offset = 2 * sizeof(void*);
    std::coroutine_handle<> handle() noexcept {
        return std::coroutine_handle<>::from_address(reinterpret_cast<std::byte*>(this) - promise_offset);
    }
};

/// An awaiter notes this of a wait, for dump() (coro/await_place.hpp).
struct await_note {
    std::int64_t since_ns; ///< on the clock of the loop
    void const* what;      ///< a function of the awaited operation, which names it; null: it is none
};

/// The functions of the root of a chain.
struct record_hooks {
    void (*resume)(await_record*);  ///< when no coroutine is left to be resumed
    void (*abandon)(await_record*); ///< what the chain awaits will never complete: ends it, now or soon
    void (*destroy)(await_record*); ///< the root itself; its coroutines have gone
    // Of a root whose chain can be asked to end early:
    bool (*is_asked)(await_record&) noexcept;
    operation::chain_requests& (*requests)(await_record&) noexcept;
    // Of a root whose chain a group awaits:
    coro::group_member const& (*member)(await_record const&) noexcept;
    bool (*is_to_be_destroyed)(await_record const&) noexcept;
    // Of a root with an allocator, for what does not fit into the bytes; null: the recycler. Any thread.
    void* (*allocate)(await_record&, std::size_t bytes) = nullptr;
    void (*deallocate)(await_record&, void*, std::size_t bytes) noexcept = nullptr;
};

enum class await_state : unsigned char {
    idle,      ///< nothing prepared
    prepared,  ///< the op lies in the bytes and was found not ready
    exhausted, ///< the budget was used up before anything was tried
    failed,    ///< an exception lies where the result would
    plain,     ///< the op in the bytes will hold the result as plain error and count: no call is needed to read it
    stored,    ///< the result lies where that of a generic operation does, whatever the operation is
    group,     ///< several chains are awaited; the address of their group lies in the bytes
};

/// Whether what a chain awaits will never complete.
enum class chain_end : unsigned char {
    none,
    awaits_bytes, ///< to be destroyed when the bytes are given back
    queued,       ///< the op that destroys it lies in the bytes
};

/// Takes away the rest of the item's budget if the chain is to end. The next await then does not try, and its start
/// asks.
FAIRLEAD_EXPORT void heed_requests(await_record& r) noexcept;

} // namespace impl::exec

/// The part of an awaited operation that lies with the suspended coroutines: the op and its state, in these bytes. For
/// authors of awaiters; programs meet it in compiler messages only.
struct await_record {
    static constexpr std::size_t lendable = 192;

    impl::exec::chain_link* innermost; ///< the coroutine to be resumed; null: hooks->resume
    resumer* home;                     ///< where the chain runs
    impl::exec::record_hooks const* hooks;
    any_io_executor const* executor; ///< of the home
    bool lent;                       ///< a generic operation holds a block in the bytes
    unsigned char notes;             ///< for whoever resumes the chain, of the following
    impl::exec::await_state state;
    impl::exec::chain_end end;
    bool keeps_home; ///< the home counts the chain, or another one at the same home that waits for it
    impl::exec::await_note const* note; ///< if the innermost coroutine has a place: of its wait, or null
    alignas(16) std::byte bytes[lendable];

    static constexpr unsigned char is_foreign = 1;   ///< the op belongs to a loop that is not home, which counts it
    static constexpr unsigned char can_be_asked = 2; ///< somebody may ask the chain to end early
    static constexpr unsigned char goes_on = 4;      ///< awaits begin also when the chain has been asked to end
    static constexpr unsigned char is_member = 8;    ///< a group awaits the chain
    static constexpr unsigned char was_refused = 16; ///< the chain has been told once that it was asked to end

    explicit await_record(impl::exec::record_hooks const& h) noexcept
        : innermost(nullptr),
          hooks(&h),
          lent(false),
          notes(0),
          state{},
          end{},
          keeps_home(false) {}
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
        return *reinterpret_cast<await_record*>(reinterpret_cast<std::byte*>(&o) - offset);
    }
    static constexpr std::size_t offset = 48;
    /// Whether the chain has been asked to end early, and does. Only for records that `can_be_asked`.
    bool is_to_end() noexcept { return !(notes & goes_on) && hooks->is_asked(*this); }
};

} // namespace fairlead
