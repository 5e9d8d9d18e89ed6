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

enum ItemKey : uint8_t { kPh, kCat, kName, kPid, kTid, kTs, kDur, kId, kArgsKey, kOtherKey };
constexpr uint8_t kClose = 254;  // no key: the closing brace

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
    if (!Lenient && item_.layout != nullptr) place_ = item_.layout->start();
    ++p;
    for (bool first = true;; first = false) {
      uint8_t key;
      p = next_key<false>(p, first, &key);
      if (p == nullptr) return outcome_;
      if (key == kClose) {
        *next = p;
        return Outcome::whole;
      }
      p = value_of(key, p);
      if (p == nullptr) return outcome_;
    }
  }

 private:
  // From behind a value, or the opening brace, to the value of the next key, or to behind the
  // closing brace (kClose).
  template <bool Args>
  LAPTIME_MEMBER const char* next_key(const char* p, bool first, uint8_t* what) {
    if (!Lenient && place_ != nullptr) {
      for (Step* s = place_->first_child; s != nullptr; s = s->sibling) {
        if (!fits(*s, p)) continue;
        const char* at = p + s->size;
        if (at >= end_) break;
        if (s->what != kClose && is_space(*at)) continue;  // more space than this step has
        place_ = s;
        *what = s->what;
        return at;
      }
    }
    return unfamiliar<Args>(p, first, what);
  }
  template <bool Args>
  const char* unfamiliar(const char* from, bool first, uint8_t* what) {
    Step* place = place_;
    place_ = nullptr;
    const char* p = skip_space(from, end_);
    const bool comma = !first && *p == ',';
    if (comma) p = skip_space(p + 1, end_);
    if (p >= end_) return need_more();
    if (*p == '}') {
      item_.odd.trailing_commas += comma;
      *what = kClose;
      ++p;
      if (comma || first || p >= end_) return p;
    } else {
      if (*p != '"') return fail(p);
      if (!comma && !first) {
        if (!Lenient) return fail(p);
        ++item_.odd.missing_commas;
      }
      p = Args ? arg_at(p, what) : key_at(p, what);
      if (Lenient || p == nullptr || p >= end_ || is_space(*p)) return p;
    }
    if (place != nullptr)
      place_ = item_.layout->learn(place, from, static_cast<size_t>(p - from), *what);
    return p;
  }

  // The key at p, and where its value begins.
  const char* key_at(const char* p, uint8_t* key) {
    const uint32_t w = load32(p + 1);
    if (w == word4("cat\"")) return *key = kCat, colon(p + 5);
    if (w == word4("name") && p[5] == '"') return *key = kName, colon(p + 6);
    if (w == word4("pid\"")) return *key = kPid, colon(p + 5);
    if (w == word4("tid\"")) return *key = kTid, colon(p + 5);
    if (w == word4("dur\"")) return *key = kDur, colon(p + 5);
    if (w == word4("args") && p[5] == '"') return *key = kArgsKey, colon(p + 6);
    Value text;
    p = key_string(p, &text);
    if (p == nullptr) return nullptr;
    *key = kOtherKey;
    if (text.size == 2 && same(text.at, "ph")) *key = kPh;
    if (text.size == 2 && same(text.at, "ts")) *key = kTs;
    if (text.size == 2 && same(text.at, "id")) *key = kId;
    // The others get here only where they were written with escapes.
    if (text.size == 3 && same(text.at, "cat")) *key = kCat;
    if (text.size == 3 && same(text.at, "pid")) *key = kPid;
    if (text.size == 3 && same(text.at, "tid")) *key = kTid;
    if (text.size == 3 && same(text.at, "dur")) *key = kDur;
    if (text.size == 4 && same(text.at, "name")) *key = kName;
    if (text.size == 4 && same(text.at, "args")) *key = kArgsKey;
    return colon(p);
  }
  LAPTIME_MEMBER const char* value_of(uint8_t key, const char* p) {
    if (key != kOtherKey) {
      item_.odd.duplicate_keys += (item_.seen >> key) & 1u;
      item_.seen |= 1u << key;
    }
    switch (key) {
      case kPh:
        return text_or_other(p, &item_.phase);
      case kCat:
        return text_or_other(p, &item_.category);
      case kName:
        return text_or_other(p, &item_.name);
      case kPid:
        return number_or_other(p, &item_.pid);
      case kTid:
        return number_or_other(p, &item_.tid);
      case kId:
        return number_or_other(p, &item_.id);
      case kTs:
        return time(p, &item_.start);
      case kDur:
        return time(p, &item_.dur);
      case kArgsKey:
        return args(p);
      default: {
        Value v;
        return text_or_other(p, &v);
      }
    }
  }
  LAPTIME_MEMBER const char* number_or_other(const char* p, Value* v) {
    uint64_t value;
    const unsigned n = sixteen_digits(p, &value);
    const bool ends = p[n] == ',' || p[n] == '}' || is_space(p[n]);
    if (n != 0 && n < 16 && ends && n <= limits_.max_string_bytes && p + n < end_) {
      v->at = p;
      v->size = value;
      v->kind = Kind::digits;
      return p + n;
    }
    return text_or_other(p, v);
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

  const char* args(const char* p) {
    item_.clear_args();
    if (p >= end_) return need_more();
    if (*p != '{') {
      place_ = nullptr;  // what follows this key are steps inside an object
      Value v;
      return value(p, &v);
    }
    const char* open = p++;
    for (bool first = true;; first = false) {
      uint8_t arg;
      p = next_key<true>(p, first, &arg);
      if (p == nullptr) return nullptr;
      if (arg == kClose) {
        item_.args_at = open;
        item_.args_size = static_cast<uint64_t>(p - open);
        return p;
      }
      p = arg == kNoArg ? unwanted(p) : wanted(p, arg);
      if (p == nullptr) return nullptr;
    }
  }
  const char* arg_at(const char* p, uint8_t* arg) {
    Value key;
    p = key_string(p, &key);
    if (p == nullptr) return nullptr;
    *arg = arg_of(key.at, key.size);
    return colon(p);
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
  Step* place_ = nullptr;  // how the item was laid out so far; null: as none before

  static bool digits_only(const Value& v) {
    for (uint64_t i = 0; i < v.size; ++i)
      if (v.at[i] < '0' || v.at[i] > '9') return false;
    return v.size != 0;
  }
};

}  // namespace
}  // namespace laptime::scan
