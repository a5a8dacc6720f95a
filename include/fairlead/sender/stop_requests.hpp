// How the stop token of a receiver asks an operation to end: as a group asks one of its members.
//
// An operation that has to wait may be asked by any thread. It may keep a reference to its requests longer than it
// takes. It has ended, for its receiver, when the last reference has gone.
#pragma once

#include <fairlead/operation/chain_requests.hpp>
#include <fairlead/sender/stop_token.hpp>

#include <optional>

namespace fairlead::impl::sender {

/// Part of an operation state, from when it begins to wait.
class stop_requests : public operation::chained_signal {
public:
    await_record& owner;

    /// `gone` is called when nobody refers to this any more.
    stop_requests(await_record& of, void (*gone)(chained_signal&) noexcept) noexcept
        : chained_signal(gone),
          owner(of),
          requests_{.parent = {}, .state = cancellation_state(*this), .first = {}} {}

    operation::chain_requests& requests() noexcept { return requests_; }
    bool is_asked() const noexcept { return !!requests_.state.cancelled(); }
    /// Any thread. The operation may end in here, and with it this.
    void ask_to_end() {
        auto const kept = requests_.state;
        remember(cancellation_type::terminal);
        ask(cancellation_type::terminal);
    }
    /// The operation has ended. This may be gone afterwards.
    void leave() noexcept { auto const last = std::move(requests_.state); }

private:
    operation::chain_requests requests_;
};

/// The part of an operation state that listens to a stop token. Empty for tokens that cannot be stopped.
template <class Token> class stop_listener {
public:
    static constexpr bool hears = true;
    FAIRLEAD_ALWAYS_INLINE explicit stop_listener(Token t) noexcept : token_(std::move(t)) {}
    bool is_stopped() const noexcept { return token_.stop_requested(); }
    bool can_be_stopped() const noexcept { return token_.stop_possible(); }
    bool listens() const noexcept { return listens_; }
    stop_requests& requests() noexcept { return *requests_; }
    /// Before the operation can end.
    void listen(await_record& owner, void (*gone)(operation::chained_signal&) noexcept) {
        requests_.emplace(owner, gone);
        callback_.emplace(token_, asks{&*requests_});
        listens_ = true;
    }
    /// Waits for a callback that another thread is in. The last of the requests goes in here, or later, and this with
    /// it.
    void stop_listening() noexcept {
        listens_ = false;
        callback_.reset();
        requests_->leave();
    }

private:
    struct asks {
        stop_requests* requests;
        void operator()() noexcept { requests->ask_to_end(); }
    };

    [[no_unique_address]] Token token_;
    bool listens_ = false;
    std::optional<stop_requests> requests_;
    std::optional<stop_callback_for_t<Token, asks>> callback_;
};
template <unstoppable_token Token> class stop_listener<Token> {
public:
    static constexpr bool hears = false;
    FAIRLEAD_ALWAYS_INLINE explicit stop_listener(Token) noexcept {}
};

} // namespace fairlead::impl::sender
