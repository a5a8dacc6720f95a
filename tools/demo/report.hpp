// What the demonstration found: as a table, as JSON, as a plot.
#pragma once

#include "load.hpp"

#include <string>

namespace demo {

void print_table(figures const& f);
/// False, with a message on stderr: the file could not be written.
bool write_json(figures const& f, std::string const& path);
bool write_plot(figures const& f, std::string const& path);

} // namespace demo
