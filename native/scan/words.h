// JSON string contents to plain bytes.
#pragma once

#include <string>

#include "scan/tally.h"

namespace laptime::scan {

// Resolves escapes; what is no valid escape stays as it was written. Lone surrogates become U+FFFD.
void unescape(const char* p, size_t n, std::string* out, Tally* tally);

// A key that holds escapes, resolved into out; 0 where it is longer than any key that is looked for.
size_t plain_key(const char* p, size_t n, char* out, size_t room);

bool valid_utf8(const char* p, size_t n);
bool has_control(const char* p, size_t n);

}  // namespace laptime::scan
