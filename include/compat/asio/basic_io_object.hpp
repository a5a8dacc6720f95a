// Says what is missing, where the header of an Asio that is installed would be found otherwise.
#pragma once

#error "Fairlead has no basic_io_object; docs/differences-from-asio.md has the list."
