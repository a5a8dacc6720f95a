// The message of a channel: the values of its signature, or of one of several.
#pragma once

#include <fairlead/base/maybe.hpp>
#include <fairlead/operation/async_result.hpp>
#include <fairlead/operation/call_values.hpp>
#include <fairlead/sync/channel_core.hpp>

#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace fairlead::impl::sync {

template <class Signature, class... Signatures> inline constexpr bool is_one_of =
    (std::is_same_v<Signature, Signatures> || ...);
template <class Signature, class... Signatures> consteval std::size_t place_among() {
    std::size_t place = 0;
    static_cast<void>(((std::is_same_v<Signature, Signatures> || (++place, false)) || ...));
    return place;
}

/// The signatures with which receivers are called: those of the messages, and those of the traits.
template <class... Signatures> struct signature_list {
    template <class Signature> using with =
        std::conditional_t<is_one_of<Signature, Signatures...>, signature_list<Signatures...>,
                           signature_list<Signatures..., Signature>>;
};

/// The values of one of several signatures.
template <class... Signatures> class values_of_several {
public:
    template <std::size_t I, class... Args> explicit values_of_several(std::in_place_index_t<I> i, Args&&... args)
        : values_(i, std::forward<Args>(args)...) {}
    template <class Handler> void call(Handler&& h) && {
        std::visit([&h](auto& v) { operation::call_with_tuple(std::forward<Handler>(h), std::move(v)); }, values_);
    }

private:
    std::variant<operation::values_of<Signatures>...> values_;
};

/// How messages with these signatures are made, and how an operation that receives one is started.
template <class List> struct message_form;
template <class Signature> struct message_form<signature_list<Signature>> {
    using signature = Signature;
    using message = operation::values_of<Signature>;

    /// The message of one of the signatures: kept_message is constructed from these arguments.
    template <class Kept, class, class... Args>
    static Kept make(Args&&... args) noexcept(std::is_nothrow_constructible_v<Kept, std::in_place_t, Args...>) {
        return Kept(std::in_place, std::forward<Args>(args)...);
    }
    template <class Object, class Token, class Primitive> static decltype(auto)
    initiate(Object const& o, Token&& token,
             Primitive&& p) noexcept(operation::nothrow_token<std::decay_t<Token>, std::decay_t<Primitive>>) {
        return operation::initiate_on<Signature>(o, std::forward<Token>(token), std::forward<Primitive>(p));
    }
};
/// Such an operation is not awaited: its result would have no one type.
template <class First, class Second, class... More> struct message_form<signature_list<First, Second, More...>> {
    using signature = First;
    using message = values_of_several<First, Second, More...>;

    template <class Kept, class Signature, class... Args> static Kept make(Args&&... args) {
        constexpr auto place = place_among<Signature, First, Second, More...>();
        return Kept(std::in_place, std::in_place_index<place>, std::forward<Args>(args)...);
    }
    template <class Object, class Token, class Primitive>
    static decltype(auto) initiate(Object const& o, Token&& token, Primitive&& p) {
        using elsewhere = operation::primitive_elsewhere<std::decay_t<Primitive>, typename Object::executor_type>;
        return operation::initiate_several<First, Second, More...>(
            std::forward<Token>(token), elsewhere{{std::forward<Primitive>(p)}, o.get_executor()});
    }
};

/// The messages of a channel with traits, and the values of a receive that gets none.
template <class Traits, class... Signatures> struct traits_form
    : message_form<typename signature_list<Signatures...>::template with<
          typename Traits::receive_cancelled_signature>::template with<typename Traits::receive_closed_signature>> {
    using form = message_form<typename signature_list<Signatures...>::template with<
        typename Traits::receive_cancelled_signature>::template with<typename Traits::receive_closed_signature>>;
    using typename form::message;
    using kept = kept_message<message>;

    static message values(kept&& k) { return std::move(*k); }
    static message values(int error) {
        impl::base::maybe<kept> made;
        if (error == operation::result_of(error::channel_closed))
            Traits::invoke_receive_closed(into<typename Traits::receive_closed_signature>(made));
        else
            Traits::invoke_receive_cancelled(into<typename Traits::receive_cancelled_signature>(made));
        return std::move(**made);
    }

private:
    template <class Signature> static auto into(impl::base::maybe<kept>& made) {
        return [&made]<class... Args>(Args&&... args) {
            made.emplace(form::template make<kept, Signature>(std::forward<Args>(args)...));
        };
    }
};

} // namespace fairlead::impl::sync
