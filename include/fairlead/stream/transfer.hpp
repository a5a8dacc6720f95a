// The common part of reading and writing "until done": the buffers still to be moved, and the loop over single
// attempts.
#pragma once

#include <fairlead/base/taken_from.hpp>
#include <fairlead/operation/cancellation_state.hpp>
#include <fairlead/operation/copied_arguments.hpp>
#include <fairlead/stream/completion_condition.hpp>
#include <fairlead/stream/concepts.hpp>
#include <fairlead/stream/stream_error.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>

#include <cstring>
#include <span>

namespace fairlead::impl::stream {

/// One buffer of which a part has been moved.
template <class Buffer> class single_rest {
public:
    explicit single_rest(Buffer b) noexcept : rest_(b) {}
    bool empty() const noexcept { return rest_.size() == 0; }
    Buffer next(std::size_t most) noexcept { return buffer(rest_, most); }
    void moved(std::size_t n) noexcept { rest_ += n; }
    template <class Handler> single_rest start_for(Handler const&) const noexcept { return *this; }
    static void give_back() noexcept {}

private:
    Buffer rest_;
};

/// Several buffers of which a part has been moved; their addresses lie in a block of `Memory`.
template <class Buffer, class Memory> class sequence_rest {
public:
    /// Takes over the block.
    sequence_rest(Memory memory, Buffer* all, std::size_t count) noexcept
        : all_(all),
          count_(count),
          memory_(std::move(memory)),
          most_(count) {}
    sequence_rest(sequence_rest&& other) noexcept
        : all_(impl::base::taken_from(other.all_)),
          at_(other.at_),
          count_(other.count_),
          next_(other.next_),
          uncut_(other.uncut_),
          memory_(other.memory_),
          most_(other.most_) {}
    sequence_rest& operator=(sequence_rest&&) = delete;
    ~sequence_rest() { give_back(); }
    /// Before the handler is called.
    void give_back() noexcept {
        if (auto* const all = impl::base::taken_from(all_))
            memory_.give_back(all, most_ * sizeof(Buffer));
    }

    bool empty() const noexcept { return at_ == count_; }
    /// The next buffers, up to `most` bytes of them, which is not 0. The last one is short if need be, until moved().
    std::span<Buffer const> next(std::size_t most) noexcept {
        std::size_t n = 0;
        for (; at_ + n != count_ && n != 1024 && most != 0; ++n) {
            auto& last = all_[at_ + n];
            uncut_ = last.size();
            last = buffer(last, most);
            most -= last.size();
        }
        return {all_ + at_, next_ = n};
    }
    void moved(std::size_t n) noexcept {
        auto& last = all_[at_ + next_ - 1];
        last = Buffer(last.data(), uncut_);
        while (n != 0 && at_ != count_) {
            auto const here = n < all_[at_].size() ? n : all_[at_].size();
            all_[at_] += here;
            n -= here;
            if (all_[at_].size() == 0)
                ++at_;
        }
    }

private:
    Buffer* all_;
    std::size_t at_ = 0;
    std::size_t count_;
    std::size_t next_ = 0;  // so many buffers went out last
    std::size_t uncut_ = 0; // the size that the last of them really has
    [[no_unique_address]] Memory memory_;
    std::size_t most_; // that the block has space for
};

/// Several buffers before the transfer starts: those of the caller, or a copy in the library's memory. Buffers without
/// bytes are left out.
template <class Buffer> class sequence_to_move {
public:
    template <class Sequence> explicit sequence_to_move(Sequence const& s) noexcept
        : buffers_(&s),
          copy_([](void const* from, Buffer* to) noexcept {
              auto const& all = *static_cast<Sequence const*>(from);
              for (auto i = buffer_sequence_begin(all), end = buffer_sequence_end(all); i != end; ++i)
                  if (Buffer const b(base::as_buffer<Buffer>(*i)); b.size() != 0)
                      ::new (to++) Buffer(b);
          }) {
        for (auto i = buffer_sequence_begin(s), end = buffer_sequence_end(s); i != end; ++i)
            count_ += base::as_buffer<Buffer>(*i).size() != 0;
    }
    sequence_to_move(sequence_to_move&& other) noexcept
        : buffers_(impl::base::taken_from(other.buffers_)),
          copy_(other.copy_),
          count_(other.count_) {}
    sequence_to_move& operator=(sequence_to_move&&) = delete;
    ~sequence_to_move() {
        if (!copy_ && buffers_)
            exec::recycle_free(const_cast<void*>(buffers_));
    }

    bool empty() const noexcept { return count_ == 0; }
    /// Before it outlives the call.
    void settle(operation::copies_at_once) {
        if (copy_)
            take(empty() ? nullptr : exec::recycle_allocate(bytes()));
    }
    void settle(operation::copies_without_exception) noexcept {
        if (copy_)
            take(empty() ? nullptr : exec::recycle_allocate_or_null(bytes()));
    }
    static void settle(operation::copies_from_handler) noexcept {}
    bool lacks_memory() const noexcept { return !copy_ && !buffers_ && count_ != 0; }

    /// The buffers of a transfer that starts, in the memory of `h`.
    template <class Handler> auto start_for(Handler const& h) {
        if (lacks_memory()) [[unlikely]]
            operation::start_without_memory();
        if constexpr (operation::keeps_copies<Handler>) {
            if (copy_)
                settle(operation::copies_at_once());
            auto* const all = static_cast<Buffer*>(const_cast<void*>(impl::base::taken_from(buffers_)));
            return sequence_rest<Buffer, operation::library_memory>({}, all, count_);
        } else {
            auto memory = operation::memory_of(h);
            auto* const all = static_cast<Buffer*>(memory.allocate(bytes()));
            copy_to(all);
            return sequence_rest<Buffer, decltype(memory)>(std::move(memory), all, count_);
        }
    }

private:
    std::size_t bytes() const noexcept { return count_ * sizeof(Buffer); }
    void copy_to(Buffer* to) const noexcept {
        if (copy_)
            copy_(buffers_, to);
        else
            std::memcpy(static_cast<void*>(to), buffers_, bytes());
    }
    void take(void* block) noexcept {
        if (block)
            copy_to(static_cast<Buffer*>(block));
        buffers_ = block;
        copy_ = nullptr;
    }

    void const* buffers_;                         ///< the caller's sequence, or a block
    void (*copy_)(void const*, Buffer*) noexcept; ///< null: it is a block
    std::size_t count_ = 0;
};

/// Nothing to move, but the stream is to see it: it knows what to wait for.
template <class Sequence> struct null_rest {
    static constexpr bool empty() noexcept { return false; }
    static Sequence next(std::size_t) noexcept { return {}; }
    static void moved(std::size_t) noexcept {}
    template <class Handler> static null_rest start_for(Handler const&) noexcept { return {}; }
    static void give_back() noexcept {}
};
/// As start_for(), in the calling thread.
struct no_handler {};

template <class Buffer, class Sequence> auto make_rest(Sequence const& s) noexcept {
    if constexpr (base::waits_only<Sequence>)
        return null_rest<Sequence>();
    else if constexpr (base::is_single_buffer<Sequence>)
        return single_rest<Buffer>(base::single_buffer<Buffer>(s));
    else
        return sequence_to_move<Buffer>(s);
}
template <class Buffer, class Sequence> using rest_of = decltype(make_rest<Buffer>(std::declval<Sequence const&>()));

/// Gives an initiation to its token, when it is settled where the copies of its arguments lie.
template <class Signature, class Token, class Init>
FAIRLEAD_ALWAYS_INLINE decltype(auto) start_settled(Token&& token, Init&& init) {
    operation::settle_copies<Token, Signature>(init);
    return completion_token_transform<Signature>(std::forward<Token>(token), std::forward<Init>(init));
}

struct read_direction {
    using buffer = mutable_buffer;
    template <class S, class B, class T> static void start(S& s, B const& b, T&& token) {
        s.async_read_some(b, std::forward<T>(token));
    }
    template <class S, class B>
        requires requires(S& s, B const& b, error_code& ec) { s.read_some(b, ec); }
    static std::size_t perform(S& s, B const& b, error_code& ec) {
        return s.read_some(b, ec);
    }
};
struct write_direction {
    using buffer = const_buffer;
    template <class S, class B, class T> static void start(S& s, B const& b, T&& token) {
        s.async_write_some(b, std::forward<T>(token));
    }
    template <class S, class B>
        requires requires(S& s, B const& b, error_code& ec) { s.write_some(b, ec); }
    static std::size_t perform(S& s, B const& b, error_code& ec) {
        return s.write_some(b, ec);
    }
};

/// The loop as a handler: it is the completion handler of each attempt. It has the associations of the final handler,
/// so that the layer needs no memory of its own (P0162R0 §5.3).
template <class Direction, class Stream, class Rest, class Condition, class Handler> struct transfer_op
    : operation::composed_cancellation<Handler> {
    Stream* stream;
    Handler handler;
    Rest rest; ///< goes before the handler, whose allocator it may need
    std::size_t total;
    [[no_unique_address]] Condition condition;

    template <class H> transfer_op(Stream* s, Rest r, Condition c, H&& h)
        : operation::composed_cancellation<Handler>(h, enable_partial_cancellation()),
          stream(s),
          handler(std::forward<H>(h)),
          rest(std::move(r)),
          total(0),
          condition(std::move(c)) {}
    void operator()(error_code ec, std::size_t n) {
        total += n;
        rest.moved(n);
        std::size_t most = 0;
        bool const stuck = !ec && n == 0;
        if (stuck || rest.empty() || (most = bytes_wanted(condition, ec, total)) == 0)
            complete(ec);
        else if (this->is_cancelled())
            complete(error::operation_aborted);
        else
            next(most);
    }
    void complete(error_code ec) {
        this->end_cancellation(handler);
        rest.give_back();
        std::move(handler)(ec, total);
    }
    void next(std::size_t most) {
        auto const b = rest.next(most);
        auto* const s = stream;
        this->begin_step([&] { Direction::start(*s, b, std::move(*this)); });
    }
};

template <class Direction, class Stream, class Rest, class Condition> struct transfer_initiation {
    Stream* stream;
    Rest rest;
    [[no_unique_address]] Condition condition;

    auto get_executor() const noexcept { return stream->get_executor(); }

    template <class Handler> void operator()(Handler&& handler) {
        error_code const ec;
        std::size_t const most = rest.empty() ? 0 : bytes_wanted(condition, ec, std::size_t{0});
        if (most == 0) {
            operation::complete_immediately(stream->get_executor(), std::forward<Handler>(handler),
                                            std::tuple<error_code, std::size_t>(ec, 0));
            return;
        }
        auto started = rest.start_for(std::as_const(handler));
        transfer_op<Direction, Stream, decltype(started), Condition, std::decay_t<Handler>> o{
            stream, std::move(started), std::move(condition), std::forward<Handler>(handler)};
        o.next(most);
    }
    template <class Way> void settle(Way way) noexcept(!std::is_same_v<Way, operation::copies_at_once>)
        requires requires(Rest& r) { r.settle(way); }
    {
        rest.settle(way);
    }
    void block(std::tuple<error_code, std::size_t>& v)
        requires requires(Stream& s, error_code ec) { Direction::perform(s, typename Direction::buffer(), ec); }
    {
        auto& [ec, total] = v;
        ec = {};
        total = 0;
        auto left = rest.start_for(no_handler());
        while (!left.empty()) {
            std::size_t const most = bytes_wanted(condition, ec, total);
            if (most == 0)
                break;
            std::size_t const n = Direction::perform(*stream, left.next(most), ec);
            total += n;
            left.moved(n);
            if (!ec && n == 0)
                break;
        }
    }
};

} // namespace fairlead::impl::stream

namespace fairlead {

template <template <class, class> class A, class Di, class S, class R, class C, class H, class D>
struct associator<A, impl::stream::transfer_op<Di, S, R, C, H>, D>
    : impl::operation::pass_on<A, impl::stream::transfer_op<Di, S, R, C, H>, H, D> {};

} // namespace fairlead
