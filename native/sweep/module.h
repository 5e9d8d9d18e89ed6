// Adds the functions on sets of time to the Python module.
#pragma once

#include <nanobind/nanobind.h>

namespace laptime::sweep {
void bind(nanobind::module_& m);
}
