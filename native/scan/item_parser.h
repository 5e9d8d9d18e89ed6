// The parser of one item: a single pass, no recursion, no allocation.
//
// Lenient = false is the fast form: strings end at the first unescaped quote. Where the text does
// not fit, the item is parsed again with Lenient = true, which also accepts raw quotes inside
// strings and missing commas, and refuses whatever it could only guess at.
//
// Included by one source file for each instruction set; everything here is internal to it.
#pragma once

#include "scan/args_key.h"

namespace laptime::scan {
namespace {

LAPTIME_INLINE constexpr uint32_t word4(const char (&w)[5]) {
  return static_cast<uint32_t>(static_cast<unsigned char>(w[0])) |
         static_cast<uint32_t>(static_cast<unsigned char>(w[1])) << 8 |
         static_cast<uint32_t>(static_cast<unsigned char>(w[2])) << 16 |
         static_cast<uint32_t>(static_cast<unsigned char>(w[3])) << 24;
}

constexpr size_t kLongestRawString = size_t{1} << 20;
constexpr size_t kLongestKey = 128;
constexpr unsigned kMostDepth = 4096;

enum ItemKey : uint8_t { kPh, kCat, kName, kPid, kTid, kTs, kDur, kId, kArgsKey };

template <bool Lenient>
class ItemParser {
 public:
  ItemParser(const char* end, const Limits& limits, Item* item)
      : end_(end), limits_(limits), item_(*item) {}

  Outcome parse(const char* p, const char** next) {
    item_.clear();
    p = skip_space(p + 1, end_);
    while (p < end_) {
      if (*p != '"') {
        if (*p == '}' && item_.seen != 0) {
          ++item_.odd.trailing_commas;
          *next = p + 1;
          return Outcome::whole;
        }
        if (*p == '}') {
          *next = p + 1;
          return Outcome::whole;
        }
        return stop(p);
      }
      // Kineto's own order first: each test is met once, in turn.
      const uint32_t w = load32(p + 1);
      if (w == word4("ph\":")) {
        p = text_or_other(seen(kPh, p + 5), &item_.phase);
      } else if (w == word4("cat\"")) {
        p = text_or_other(colon(seen(kCat, p + 5)), &item_.category);
      } else if (w == word4("name") && p[5] == '"') {
        p = text_or_other(colon(seen(kName, p + 6)), &item_.name);
      } else if (w == word4("pid\"")) {
        p = text_or_other(colon(seen(kPid, p + 5)), &item_.pid);
      } else if (w == word4("tid\"")) {
        p = text_or_other(colon(seen(kTid, p + 5)), &item_.tid);
      } else if (w == word4("ts\":")) {
        p = time(seen(kTs, p + 5), &item_.start);
      } else if (w == word4("dur\"")) {
        p = time(colon(seen(kDur, p + 5)), &item_.dur);
      } else if (w == word4("args") && p[5] == '"') {
        p = args(colon(seen(kArgsKey, p + 6)));
      } else {
        p = other_key(p);
      }
      if (p == nullptr) return outcome_;
      if (*p != ',') {
        p = skip_space(p, end_);
        if (*p != ',') {
          if (p >= end_) break;
          if (*p == '}') {
            *next = p + 1;
            return Outcome::whole;
          }
          if (!Lenient || *p != '"') return stop(p);
          ++item_.odd.missing_commas;
          continue;
        }
      }
      p = skip_space(p + 1, end_);
    }
    return Outcome::more;
  }

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

 private:
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

  LAPTIME_MEMBER const char* seen(ItemKey key, const char* p) {
    const uint32_t bit = 1u << key;
    item_.odd.duplicate_keys += (item_.seen & bit) != 0;
    item_.seen |= bit;
    if (key == kPh || key == kTs) {  // their words hold the colon already
      if (!is_space(*p)) return p;
      return skip_space(p + 1, end_);
    }
    return p;
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

  LAPTIME_MEMBER const char* time(const char* p, Time* t) {
    if (p == nullptr) return nullptr;
    uint64_t whole;
    const unsigned n = sixteen_digits(p, &whole);
    if (n > 0 && n <= 16 && whole < static_cast<uint64_t>(kTimeLimitNs) / 1000 - 1) {
      const char* e = p + n;
      uint64_t fraction = 0;
      if (*e == '.') {
        const unsigned f = eight_digits(e + 1, &fraction);
        e += f + 1;
        fraction = f - 1 < 3 ? fraction * kPow10[3 - f] : UINT64_MAX;
      }
      if (fraction < 1000 && (*e == ',' || *e == '}' || is_space(*e)) && e < end_) {
        t->ns = static_cast<int64_t>(whole * 1000 + fraction);
        t->state = TimeState::good;
        t->rounded = t->text = false;
        return e;
      }
    }
    return time_slow(p, t);
  }
  const char* time_slow(const char* p, Time* t) {
    Value v;
    const char* e = value(p, &v);
    if (e == nullptr) return nullptr;
    *t = Time{};
    if (v.kind == Kind::nested) {
      t->state = TimeState::not_a_number;
    } else if (v.kind != Kind::absent) {
      const char* at = v.at;
      uint64_t n = v.size;
      if (v.kind == Kind::text) {
        while (n != 0 && is_space(*at)) ++at, --n;
        while (n != 0 && is_space(at[n - 1])) --n;
      }
      *t = read_time(at, n);
      t->text = v.kind == Kind::text;
    }
    return e;
  }

  const char* other_key(const char* p) {
    Value key;
    const char* e = key_string(p, &key);
    if (e == nullptr) return nullptr;
    e = colon(e);
    if (e == nullptr) return nullptr;
    // Keys met here had white space before the colon, or are of no interest.
    if (key.size == 2 && same(key.at, "id")) return text_or_other(seen(kId, e), &item_.id);
    if (key.size == 2 && same(key.at, "ph")) return mark(kPh), text_or_other(e, &item_.phase);
    if (key.size == 2 && same(key.at, "ts")) return mark(kTs), time(e, &item_.start);
    if (item_.seen == 0) item_.seen = 1u << 31;
    Value unwanted;
    return value(e, &unwanted);
  }
  void mark(ItemKey key) {
    item_.odd.duplicate_keys += (item_.seen >> key) & 1u;
    item_.seen |= 1u << key;
  }

  // Keys never hold raw quotes, whichever form.
  LAPTIME_MEMBER const char* key_string(const char* p, Value* key) {
    const char* q = find_quote(p + 1, end_);
    while (*q == '\\' && q < end_) q = find_quote(q + 2, end_);
    if (static_cast<uint64_t>((q < end_ ? q : end_) - p) > limits_.max_string_bytes)
      return too_long(p);
    if (q >= end_) return need_more();
    key->at = p + 1;
    key->size = static_cast<uint64_t>(q - p - 1);
    return q + 1;
  }

  const char* args(const char* p) {
    if (p == nullptr) return nullptr;
    item_.clear_args();
    if (p >= end_) return need_more();
    if (*p != '{') {
      Value v;
      return value(p, &v);
    }
    const char* open = p;
    p = skip_space(p + 1, end_);
    bool any = false;
    while (p < end_) {
      if (*p != '"') {
        if (*p != '}') return fail(p);
        item_.odd.trailing_commas += any;
        return close_args(open, p);
      }
      any = true;
      uint8_t arg = kNoArg;
      const char* value_at = frequent_key(p, &arg);
      if (value_at == nullptr) {
        Value key;
        p = key_string(p, &key);
        if (p == nullptr) return nullptr;
        p = colon(p);
        if (p == nullptr) return nullptr;
        arg = arg_of(key.at, key.size);
      } else {
        p = value_at;
      }
      p = arg == kNoArg ? unwanted(p) : wanted(p, arg);
      if (p == nullptr) return nullptr;
      if (*p != ',') {
        p = skip_space(p, end_);
        if (*p != ',') {
          if (p >= end_) break;
          if (*p == '}') return close_args(open, p);
          if (!Lenient || *p != '"') return fail(p);
          ++item_.odd.missing_commas;
          continue;
        }
      }
      p = skip_space(p + 1, end_);
    }
    return need_more();
  }
  // The keys most rows carry, compared whole: a predicted branch, where a search for the closing
  // quote would make all that follows wait for its result. Null for any other key or spacing.
  template <size_t N>
  LAPTIME_MEMBER bool at_key(const char* p, const char (&quoted)[N]) {
    return memcmp(p, quoted, N - 1) == 0 && !is_space(p[N - 1]);
  }
  LAPTIME_MEMBER const char* frequent_key(const char* p, uint8_t* arg) {
#define LAPTIME_KEY(text, which)               \
  if (at_key(p, "\"" text "\": ")) {           \
    *arg = which;                              \
    return p + sizeof("\"" text "\": ") - 1;   \
  }
    LAPTIME_KEY("External id", kExternalId)
    LAPTIME_KEY("Ev Idx", kNoArg)
    LAPTIME_KEY("Python parent id", kPythonParent)
    LAPTIME_KEY("Python id", kPythonId)
    LAPTIME_KEY("correlation", kCorrelation)
    LAPTIME_KEY("Record function id", kNoArg)
    LAPTIME_KEY("Concrete Inputs", kNoArg)
    LAPTIME_KEY("Input type", kNoArg)
    LAPTIME_KEY("Input Dims", kNoArg)
    LAPTIME_KEY("Input Strides", kNoArg)
    LAPTIME_KEY("Sequence number", kNoArg)
    LAPTIME_KEY("Fwd thread id", kNoArg)
    LAPTIME_KEY("cbid", kNoArg)
#undef LAPTIME_KEY
    return nullptr;
  }
  LAPTIME_MEMBER const char* close_args(const char* open, const char* close) {
    item_.args_at = open;
    item_.args_size = static_cast<uint64_t>(close + 1 - open);
    return close + 1;
  }

  LAPTIME_MEMBER const char* unwanted(const char* p) {
    Value v;
    if (!Lenient) {
      if (*p == '"') return text_or_other(p, &v);
      const char c = *p;
#if defined(LAPTIME_WIDE)
      if (c == '[' && p < end_) {
        const char* e = plain_array(p);
        if (e != nullptr) return e;
      }
#endif
      if (c != '{' && c != '[') {
        const char* e = find_delimiter(p, end_);
        if ((*e == ',' || *e == '}' || is_space(*e)) && e != p && e < p + kPad / 4 && e < end_)
          return e;
      }
    }
    return value(p, &v);
  }

  const char* wanted(const char* p, uint8_t arg) {
    const uint64_t bit = uint64_t{1} << arg;
    item_.odd.duplicate_keys += (item_.arg_seen & bit) != 0;
    item_.arg_seen |= bit;
    if (arg >= kFirstText) {
      Value& v = item_.texts[arg - kFirstText];
      p = text_or_other(p, &v);
      const uint64_t text_bit = uint64_t{1} << (arg - kFirstText);
      item_.text_seen &= ~text_bit;
      if (p != nullptr && v.kind != Kind::absent) item_.text_seen |= text_bit;
      return p;
    }
    if (arg >= kMetaName && arg < kFirstInt) return text_or_other(p, &item_.meta);
    uint64_t magnitude;
    const unsigned n = sixteen_digits(p, &magnitude);
    const char* e = p + n;
    Integer i{magnitude, false, true};
    if (n == 0 || n == 16 || !(*e == ',' || *e == '}' || is_space(*e)) || e >= end_) {
      Value v;
      e = value(p, &v);
      if (e == nullptr) return nullptr;
      i.ok = false;
      if (v.kind == Kind::number || v.kind == Kind::text) {
        i = read_integer(v.at, v.size);
        if (!i.ok && arg < kDevice && digits_only(v)) ++item_.odd.ids_out_of_range;
      }
    }
    if (arg < kDevice) {
      item_.ids[arg] = i.ok && !i.negative ? i.magnitude : kNoId;
      return e;
    }
    const bool fits = i.ok && (!i.negative || i.magnitude <= uint64_t{1} << 63);
    const auto stored = static_cast<int64_t>(i.negative ? 0 - i.magnitude : i.magnitude);
    if (arg == kDevice || arg == kStream) {
      const bool small = fits && (i.negative || i.magnitude <= static_cast<uint64_t>(INT64_MAX));
      (arg == kDevice ? item_.device : item_.stream) = small ? stored : kNoOrdinal;
      return e;
    }
    const unsigned slot = arg - unsigned{kFirstInt};
    item_.ints[slot] = stored;
    item_.int_seen = (item_.int_seen & ~(uint64_t{1} << slot)) | (uint64_t{fits} << slot);
    return e;
  }
  static bool digits_only(const Value& v) {
    for (uint64_t i = 0; i < v.size; ++i)
      if (v.at[i] < '0' || v.at[i] > '9') return false;
    return v.size != 0;
  }

  const char* end_;
  const Limits& limits_;
  Item& item_;
  Outcome outcome_ = Outcome::broken;
};

}  // namespace
}  // namespace laptime::scan
