// The subject of callgrind: N copies of an any_io_executor, each of which is destroyed.
//
//   copies context N   of that of a context
//   copies strand N    of one on a strand, which shares a state
#include <fairlead/exec/strand.hpp>
#include <fairlead/io/io_context.hpp>

#include <cstdlib>
#include <cstring>

namespace {

using namespace fairlead;

/// The compiler does not see what comes of it.
FAIRLEAD_NOINLINE void copy(any_io_executor const& from) noexcept {
    any_io_executor const to(from);
    asm volatile("" : : "r"(&to) : "memory");
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    io_context context(1);
    any_io_executor from = context.get_executor();
    if (std::strcmp(argv[1], "strand") == 0)
        from = make_strand(context);
    else if (std::strcmp(argv[1], "context") != 0)
        return 2;
    for (long left = std::atol(argv[2]); left > 0; --left)
        copy(from);
}
