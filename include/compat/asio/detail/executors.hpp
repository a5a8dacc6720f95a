// Names that Asio's headers bring with executors: their properties, and the members of the Networking TS.
#pragma once

#include <fairlead/legacy/inline_properties.hpp>
#include <fairlead/legacy/ts_members.hpp>
#include <fairlead/legacy/with_properties.hpp>
