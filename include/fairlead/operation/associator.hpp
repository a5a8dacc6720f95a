// The template that passes the associations of handlers on.
#pragma once

namespace fairlead {

/// Lets an adapter pass on all associations of the handler inside it with one specialisation:
/// `template <template <class, class> class A, class H, class D> struct associator<A, adapter<H>, D>` with `type`,
/// `get(adapter const&)` and `get(adapter const&, D const&)`.
template <template <class, class> class Associator, class T, class Default> struct associator {};

} // namespace fairlead
