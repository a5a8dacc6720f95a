// Says what is missing, where the header of an Asio that is installed would be found otherwise.
#pragma once

#error                                                                                                                 \
    "The operators of awaitables and what they throw are not there yet in Fairlead; docs/differences-from-asio.md has the list."
