// The file of this executable that replaces operator new.
#include <support/counting_new_here.hpp>
