// The parser of one item: a single pass, no recursion, no allocation.
//
// Lenient = false is the fast form: strings end at the first unescaped quote. Where the text does
// not fit, the item is parsed again with Lenient = true, which also accepts raw quotes inside
// strings and missing commas, and refuses whatever it could only guess at.
//
// Included by one source file for each instruction set; everything here is internal to it.
#pragma once

#include "scan/value_parser.h"

namespace laptime::scan {
namespace {

LAPTIME_INLINE constexpr uint32_t word4(const char (&w)[5]) {
  return static_cast<uint32_t>(static_cast<unsigned char>(w[0])) |
         static_cast<uint32_t>(static_cast<unsigned char>(w[1])) << 8 |
         static_cast<uint32_t>(static_cast<unsigned char>(w[2])) << 16 |
         static_cast<uint32_t>(static_cast<unsigned char>(w[3])) << 24;
}

enum ItemKey : uint8_t { kPh, kCat, kName, kPid, kTid, kTs, kDur, kId, kArgsKey };

template <bool Lenient>
class ItemParser : ValueParser<Lenient> {
  using Base = ValueParser<Lenient>;
  using Base::end_, Base::limits_, Base::item_, Base::outcome_;
  using Base::fail, Base::need_more, Base::stop, Base::colon, Base::text_or_other, Base::key_string;
#if defined(LAPTIME_WIDE)
  using Base::plain_array;
#endif

 public:
  using Base::Base, Base::value, Base::outcome;

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

 private:
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
};

}  // namespace
}  // namespace laptime::scan
