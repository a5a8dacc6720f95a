// The values of a completion, kept until the handler can be called: a tuple. Where the operation has several
// signatures, it is the tuple of one of them.
#pragma once

#include <fairlead/base/maybe.hpp>
#include <fairlead/operation/async_result.hpp>
#include <fairlead/operation/completion.hpp>

#include <cstddef>
#include <tuple>
#include <utility>

namespace fairlead::impl::operation {

template <class Values, std::size_t Index, class Signature> struct kept_alternative;
template <class Values, std::size_t Index, class R, class... Args> struct kept_alternative<Values, Index, R(Args...)> {
    static Values make(Args... args) {
        Values kept;
        std::get<Index>(kept).emplace(std::forward<Args>(args)...);
        return kept;
    }
};

template <class Values, class Indices, class... Signatures> struct kept_alternatives;
template <class Values, std::size_t... Indices, class... Signatures>
struct kept_alternatives<Values, std::index_sequence<Indices...>, Signatures...>
    : kept_alternative<Values, Indices, Signatures>... {
    using kept_alternative<Values, Indices, Signatures>::make...;
};

/// `type` holds the arguments of a completion; `make(args...)` keeps them, those of the signature that fits best;
/// `visit(kept, f)` calls f with a tuple of them. Several of them rather than a variant, which weighs more to compile.
template <class... Signatures> struct kept_values {
    using type = std::tuple<base::maybe<values_of<Signatures>>...>;
    template <class... Args> static type make(Args&&... args) {
        return kept_alternatives<type, std::index_sequence_for<Signatures...>, Signatures...>::make(
            std::forward<Args>(args)...);
    }
    template <class F> static void visit(type&& kept, F&& f) {
        auto const visit_one = [&f](auto& one) {
            if (one)
                f(std::move(*one));
        };
        std::apply([&visit_one](auto&... each) { (visit_one(each), ...); }, kept);
    }
};
template <class Signature> struct kept_values<Signature> {
    using type = values_of<Signature>;
    template <class... Args> static type make(Args&&... args) { return type(std::forward<Args>(args)...); }
    template <class F> static void visit(type&& kept, F&& f) { std::forward<F>(f)(std::move(kept)); }
};

} // namespace fairlead::impl::operation
