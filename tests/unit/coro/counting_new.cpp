// The file of this executable that replaces operator new. In tests/alloc another one does so already.
#include <support/counting_new_here.hpp>
