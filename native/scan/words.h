// JSON string contents to plain bytes.
#pragma once

#include <string>

#include "scan/tally.h"

namespace laptime::scan {

// Resolves escapes; what is no valid escape stays as it was written. Lone surrogates become U+FFFD.
void unescape(const char* p, size_t n, std::string* out, Tally* tally);

bool valid_utf8(const char* p, size_t n);
bool has_control(const char* p, size_t n);

}  // namespace laptime::scan
