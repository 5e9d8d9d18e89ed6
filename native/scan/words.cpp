#include "scan/words.h"

#include <random>

#include "scan/table.h"

namespace laptime::scan {

uint64_t hash_seed() {
  static const uint64_t seed = [] {
    std::random_device d;
    return (static_cast<uint64_t>(d()) << 32) ^ d();
  }();
  return seed;
}

namespace {

int hex4(const char* p) {
  int v = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = p[i];
    const int d = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
    if (d < 0) return -1;
    v = v * 16 + d;
  }
  return v;
}

void put_utf8(uint32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xC0 | (c >> 6)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | (c >> 12)));
    out->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out->push_back(static_cast<char>(0xF0 | (c >> 18)));
    out->push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

}  // namespace

void unescape(const char* p, size_t n, std::string* out, Tally* tally) {
  static constexpr char kFrom[] = "\"\\/bfnrt", kTo[] = "\"\\/\b\f\n\r\t";
  out->clear();
  for (size_t i = 0; i < n;) {
    if (p[i] != '\\') {
      out->push_back(p[i++]);
      continue;
    }
    const char* simple = i + 1 < n && p[i + 1] != 0 ? std::strchr(kFrom, p[i + 1]) : nullptr;
    if (simple != nullptr) {
      out->push_back(kTo[simple - kFrom]);
      i += 2;
      continue;
    }
    int c = i + 5 < n && p[i + 1] == 'u' ? hex4(p + i + 2) : -1;
    if (c < 0) {
      ++tally->bad_escapes;
      out->push_back(p[i++]);
      continue;
    }
    i += 6;
    uint32_t point = static_cast<uint32_t>(c);
    if (point >= 0xD800 && point < 0xE000) {
      const int low = point < 0xDC00 && i + 5 < n && p[i] == '\\' && p[i + 1] == 'u'
                          ? hex4(p + i + 2)
                          : -1;
      if (low >= 0xDC00 && low < 0xE000) {
        point = 0x10000 + ((point - 0xD800) << 10) + (static_cast<uint32_t>(low) - 0xDC00);
        i += 6;
      } else {
        ++tally->lone_surrogates;
        point = 0xFFFD;
      }
    }
    put_utf8(point, out);
  }
}

size_t plain_key(const char* p, size_t n, char* out, size_t room) {
  if (n > 6 * room) return 0;
  std::string key;
  Tally unused;
  unescape(p, n, &key, &unused);
  if (key.size() > room) return 0;
  std::memcpy(out, key.data(), key.size());
  return key.size();
}

bool valid_utf8(const char* s, size_t n) {
  const auto* p = reinterpret_cast<const unsigned char*>(s);
  for (size_t i = 0; i < n;) {
    const unsigned c = p[i];
    if (c < 0x80) {
      ++i;
      continue;
    }
    const size_t more = c >= 0xC2 && c < 0xE0 ? 1 : (c & 0xF0) == 0xE0 ? 2 : c >= 0xF0 && c < 0xF5 ? 3 : 0;
    if (more == 0 || n - i <= more) return false;
    const unsigned d = p[i + 1];
    if ((c == 0xE0 && d < 0xA0) || (c == 0xED && d > 0x9F) || (c == 0xF0 && d < 0x90) ||
        (c == 0xF4 && d > 0x8F))
      return false;
    for (size_t k = 1; k <= more; ++k)
      if ((p[i + k] & 0xC0) != 0x80) return false;
    i += more + 1;
  }
  return true;
}

bool has_control(const char* p, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (static_cast<unsigned char>(p[i]) < 0x20) return true;
  return false;
}

}  // namespace laptime::scan
