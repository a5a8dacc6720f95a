// Says what is missing, where the header of an Asio that is installed would be found otherwise.
#pragma once

#error                                                                                                                 \
    "Fairlead has no basic_resolver_query: give resolve() host, service and flags; docs/differences-from-asio.md has the list."
