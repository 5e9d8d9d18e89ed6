// Values inside an item: strings, bare words, arrays and objects that are only skipped.
//
// Included by one source file for each instruction set; everything here is internal to it.
#pragma once

#include "scan/args_key.h"
#include "scan/words.h"

namespace laptime::scan {
namespace {

constexpr size_t kLongestRawString = size_t{1} << 20;
constexpr size_t kLongestKey = 128;
constexpr unsigned kMostDepth = 4096;

// Lenient: also accepts raw quotes inside strings, and refuses what it could only guess at.
template <bool Lenient>
class ValueParser {
 public:
  ValueParser(const char* end, const Limits& limits, Item* item)
      : end_(end), limits_(limits), item_(*item) {}

  // One value of any kind at p; returns its end, or null with the outcome set.
  const char* value(const char* p, Value* v) {
    if (p >= end_) return need_more();
    const char c = *p;
    if (c == '"') return string(p, v);
    if (c == '{' || c == '[') {
      const char* e = nested(p);
      if (e == nullptr) return nullptr;
      v->at = p;
      v->size = static_cast<uint64_t>(e - p);
      v->kind = Kind::nested;
      return e;
    }
    return bare(p, v);
  }

  Outcome outcome() const { return outcome_; }

 protected:
  const char* fail(const char* p) {
    outcome_ = stop(p);
    return nullptr;
  }
  const char* need_more() {
    outcome_ = Outcome::more;
    return nullptr;
  }
  Outcome stop(const char* p) {
    if (p >= end_) return Outcome::more;
    item_.stop = p;
    return Outcome::broken;
  }
  // Named at the same byte however the text was cut into chunks.
  const char* too_long(const char* start) {
    return fault(start + limits_.max_string_bytes, Fault::string_too_long);
  }
  const char* fault(const char* p, Fault f) {
    item_.fault = f;
    item_.stop = p;
    outcome_ = Outcome::broken;
    return nullptr;
  }

  // Past the colon and the space around it; null where there is none.
  LAPTIME_MEMBER const char* colon(const char* p) {
    if (p[0] == ':' && p[1] == ' ' && !is_space(p[2])) return p + 2;
    return colon_slow(p);
  }
  const char* colon_slow(const char* p) {
    p = skip_space(p, end_);
    if (*p != ':' || p >= end_) return fail(p);
    return skip_space(p + 1, end_);
  }

  LAPTIME_MEMBER const char* text_or_other(const char* p, Value* v) {
    if (p == nullptr) return nullptr;
    if (!Lenient && *p == '"' && p < end_) {
      const char* q = find_quote(p + 1, end_);
      if (*q == '"' && q < end_) {
        v->at = p + 1;
        v->size = static_cast<uint64_t>(q - p - 1);
        v->kind = Kind::text;
        v->escaped = false;
        if (v->size > limits_.max_string_bytes) return too_long(p + 1);
        return q + 1;
      }
    }
    return value(p, v);
  }

  // A string from its opening quote; returns behind its closing quote.
  const char* string(const char* p, Value* v) {
    const char* s = p + 1;
    const char* q = s;
    bool escaped = false;
    for (;;) {
      q = find_quote(q, end_);
      const size_t length = static_cast<size_t>((q < end_ ? q : end_) - s);
      if (length > limits_.max_string_bytes) return too_long(s);
      if (q >= end_) return need_more();
      if (*q == '\\') {
        escaped = true;
        if (Lenient && q + 1 >= end_) return need_more();
        if (Lenient && q[1] == '"') {
          // A path that ends in a backslash, written unescaped: "C:\dir\", "ts": ...
          const int e = ends_string(q + 2, false);
          if (e < 0) return need_more();
          if (e == 1 && q[2] == ',') {
            ++q;
            break;
          }
        }
        q += 2;
        continue;
      }
      if (!Lenient) break;
      const int e = ends_string(q + 1, true);
      if (e < 0) return need_more();
      if (e == 1) break;
      if (e == 2 || static_cast<size_t>(q - s) > kLongestRawString) return fail(q);
      ++item_.odd.raw_quotes;
      ++q;
    }
    v->at = s;
    v->size = static_cast<uint64_t>(q - s);
    v->kind = Kind::text;
    v->escaped = escaped;
    return q + 1;
  }

  // Does a quote just before p end a string value? 1 yes, 0 no, 2 it looks like a key (the end of
  // the value was missed: refuse), -1 more text is needed to tell.
  int ends_string(const char* p, bool keys) {
    p = skip_space(p, end_);
    if (p >= end_) return -1;
    if (*p == ':') return keys ? 2 : 0;
    if (*p == '}' || *p == ']') {
      p = skip_space(p + 1, end_);
      if (p >= end_) return -1;
      return *p == ',' || *p == '}' || *p == ']' ? 1 : 0;
    }
    if (*p != ',') return 0;
    p = skip_space(p + 1, end_);
    if (p >= end_) return -1;
    if (*p == '}') return 1;
    if (*p != '"') return 0;
    const char* k = p + 1;
    while (static_cast<size_t>(k - p) < kLongestKey && k < end_ && *k != '"' && *k != '\n') ++k;
    if (k >= end_) return -1;
    if (*k != '"') return 0;
    k = skip_space(k + 1, end_);
    if (k >= end_) return -1;
    return *k == ':' ? 1 : 0;
  }

  // A number or a word: true, null, NaN, -inf, 1.#IND: whatever stands up to the next delimiter.
  const char* bare(const char* p, Value* v) {
    const char* e = find_delimiter(p, end_);
    if (e >= end_) {
      if (static_cast<size_t>(end_ - p) > limits_.max_string_bytes)
        return too_long(p);
      return need_more();
    }
    const size_t n = static_cast<size_t>(e - p);
    if (n > limits_.max_string_bytes) return too_long(p);
    if (*e != ',' && *e != '}' && *e != ']' && !is_space(*e)) return fail(e);
    v->at = p;
    v->size = n;
    const char c = *p;
    v->kind = (c >= '0' && c <= '9') || c == '-' ? Kind::number : Kind::word;
    if (n == 0) {
      v->kind = Kind::absent;
      ++item_.odd.missing_values;
    } else if (v->kind == Kind::word && n == 4 && same(p, "null")) {
      v->kind = Kind::absent;
    }
    return e;
  }

  // An object or array, only to find its end. Brackets must match in kind.
  const char* nested(const char* p) {
    uint64_t kinds[kMostDepth / 64];  // bit set: an object
    unsigned depth = 0;
    const unsigned most = limits_.max_depth < kMostDepth ? limits_.max_depth : kMostDepth;
    for (;;) {
      Block::Mask m = Block::at(p).quote_or_bracket();
      const char* block = p;
      p += Block::kBytes;
      while (m != 0) {
        const char* q = block + low_bit(m) / Block::kStep;
        m &= m - 1;
        if (q >= end_) return need_more();
        const char c = *q;
        if (c == '"') {
          Value skipped;
          const char* e;
          if (Lenient) {
            e = nested_string(q);
          } else {
            const char* s = find_quote(q + 1, end_);
            const bool plain = *s == '"' && s < end_ &&
                               static_cast<uint64_t>(s - q) <= limits_.max_string_bytes;
            e = plain ? s + 1 : string(q, &skipped);
          }
          if (e == nullptr) return nullptr;
          if (e >= p) {
            p = e;
            break;
          }
          // Still in this block: drop the bits of what the string held.
          const auto behind = static_cast<unsigned>(e - block) * Block::kStep;
          m = m >> behind << behind;
          continue;
        }
        const uint64_t bit = uint64_t{1} << (depth & 63);
        if (c == '{' || c == '[') {
          if (depth == most) return fault(q, Fault::too_deep);
          uint64_t& w = kinds[depth >> 6];
          if ((depth & 63) == 0) w = 0;
          w = c == '{' ? w | bit : w & ~bit;
          ++depth;
          continue;
        }
        --depth;
        const uint64_t open = uint64_t{1} << (depth & 63);
        if (((kinds[depth >> 6] & open) != 0) != (c == '}')) return fail(q);
        if (depth == 0) return q + 1;
      }
      if (p >= end_) return need_more();
    }
  }

#if defined(LAPTIME_WIDE)
  // The usual array: no braces, no backslashes. Null where it is not that simple.
  LAPTIME_MEMBER const char* plain_array(const char* p) {
    const char* start = p;
    uint64_t inside = 0;  // all ones while a string runs on from the block before
    unsigned depth = 0;
    const unsigned most = limits_.max_depth < kMostDepth ? limits_.max_depth : kMostDepth;
    for (;; p += 64) {
      const Wide w = Wide::at(p);
      const uint64_t strings = parity_below(w.quote) ^ inside;
      const uint64_t open = w.open & ~strings, close = w.close & ~strings;
      if (depth + bit_count(open) > most) return nullptr;
      unsigned closed = 0;
      uint64_t c = close;
      for (; c != 0; c &= c - 1) {
        const unsigned opened = bit_count(open & ((c & (0 - c)) - 1));
        ++closed;
        if (depth + opened == closed) break;
      }
      const uint64_t looked_at = c == 0 ? ~uint64_t{0} : (c & (0 - c)) - 1;
      if (((w.backslash | (w.brace & ~strings)) & looked_at) != 0) return nullptr;
      if (c != 0) {
        p += low_bit(c);
        const bool sure = p < end_ && static_cast<uint64_t>(p - start) <= limits_.max_string_bytes;
        return sure ? p + 1 : nullptr;
      }
      depth += bit_count(open) - closed;
      inside = 0 - (strings >> 63);
      if (p + 64 >= end_ || static_cast<uint64_t>(p - start) >= limits_.max_string_bytes)
        return nullptr;
    }
  }
#endif

  // A string inside nested values, key or value: it ends at a quote that structure follows.
  const char* nested_string(const char* q) {
    const char* s = q + 1;
    for (const char* e = s;; ++e) {
      e = find_quote(e, end_);
      if (e >= end_) return need_more();
      if (*e == '\\') {
        ++e;
        continue;
      }
      const char* after = skip_space(e + 1, end_);
      if (after >= end_) return need_more();
      if (*after == ',' || *after == ':' || *after == '}' || *after == ']') return e + 1;
      if (static_cast<size_t>(e - s) > kLongestRawString) return fail(e);
      ++item_.odd.raw_quotes;
    }
  }

  // Keys never hold raw quotes, whichever form.
  LAPTIME_MEMBER const char* key_string(const char* p, Value* key) {
    const char* q = find_quote(p + 1, end_);
    const bool escaped = *q == '\\' && q < end_;
    while (*q == '\\' && q < end_) q = find_quote(q + 2, end_);
    if (static_cast<uint64_t>((q < end_ ? q : end_) - p) > limits_.max_string_bytes)
      return too_long(p);
    if (q >= end_) return need_more();
    key->at = p + 1;
    key->size = static_cast<uint64_t>(q - p - 1);
    if (escaped) {  // "\u0070id" is the key pid
      key->size = plain_key(key->at, key->size, plain_, sizeof plain_);
      key->at = plain_;
    }
    return q + 1;
  }

  const char* end_;
  const Limits& limits_;
  Item& item_;
  char plain_[40];  // the last key that held escapes, without them; the longest known has 33 bytes
  Outcome outcome_ = Outcome::broken;
};

}  // namespace
}  // namespace laptime::scan
