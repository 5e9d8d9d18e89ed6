// Decimal text to integers, exactly. No float is involved anywhere.
#pragma once

#include "scan/text.h"

namespace laptime::scan {

// Times at or beyond this (146 years in ns) are damage, and keep start + duration inside int64.
constexpr int64_t kTimeLimitNs = int64_t{1} << 62;

constexpr uint64_t kPow10[] = {1,      10,      100,      1000,     10000,
                               100000, 1000000, 10000000, 100000000};

// Leading digits of the eight bytes at p (0..8 of them) and their value.
LAPTIME_INLINE unsigned eight_digits(const char* p, uint64_t* value) {
  uint64_t t = load64(p) ^ 0x3030303030303030ull;
  const uint64_t other = ((t + 0x7676767676767676ull) | t) & 0x8080808080808080ull;
  const unsigned n = other == 0 ? 8 : low_bit(other) >> 3;
  if (n == 0) {
    *value = 0;
    return 0;
  }
  t <<= 64 - 8 * n;
  t = t * 10 + (t >> 8);
  *value = (((t & 0x000000FF000000FFull) * 0x000F424000000064ull) +
            (((t >> 16) & 0x000000FF000000FFull) * 0x0000271000000001ull)) >>
           32;
  return n;
}

// Up to sixteen digits; a result of 16 means that more may follow.
LAPTIME_INLINE unsigned sixteen_digits(const char* p, uint64_t* value) {
  uint64_t high, low;
  const unsigned n = eight_digits(p, &high);
  if (n < 8) {
    *value = high;
    return n;
  }
  const unsigned m = eight_digits(p + 8, &low);
  *value = high * kPow10[m] + low;
  return 8 + m;
}

struct Integer {
  uint64_t magnitude;
  bool negative;
  bool ok;
};

// "-?digits" and nothing else, within 64 bits.
LAPTIME_NOINLINE Integer read_integer(const char* p, size_t size) {
  Integer out{0, false, false};
  size_t i = 0;
  if (i < size && p[i] == '-') {
    out.negative = true;
    ++i;
  }
  if (i == size) return out;
  for (; i < size; ++i) {
    const unsigned d = static_cast<unsigned char>(p[i]) - unsigned{'0'};
    if (d > 9) return out;
    if (out.magnitude > (UINT64_MAX - d) / 10) return out;
    out.magnitude = out.magnitude * 10 + d;
  }
  out.ok = true;
  return out;
}

enum class TimeState : uint8_t { absent, good, not_a_number, nan, out_of_range };

struct Time {
  int64_t ns = 0;
  TimeState state = TimeState::absent;
  bool rounded = false;  // digits below one nanosecond were rounded half to even
  bool text = false;     // the number was written as a string
};

LAPTIME_INLINE bool starts_word(const char* p, size_t size, const char* word) {
  for (size_t i = 0; word[i] != 0; ++i)
    if (i >= size || (p[i] | 0x20) != word[i]) return false;
  return true;
}

// Microseconds as decimal text, with or without fraction and exponent, to nanoseconds.
LAPTIME_NOINLINE Time read_time(const char* p, size_t size) {
  Time out;
  const char* end = p + size;
  bool negative = false;
  if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
  const size_t left = static_cast<size_t>(end - p);
  if (starts_word(p, left, "nan") || starts_word(p, left, "inf")) {
    out.state = TimeState::nan;
    return out;
  }
  out.state = TimeState::not_a_number;
  // First the shape: digits [. digits] [e [sign] digits].
  const char* digits = p;
  int64_t before = 0, count = 0;
  bool point = false;
  for (; p < end; ++p) {
    if (*p == '.' && !point) {
      point = true;
      before = count;
    } else if (*p >= '0' && *p <= '9') {
      ++count;
    } else {
      break;
    }
  }
  if (!point) before = count;
  if (count == 0) return out;
  const char* digits_end = p;
  int64_t exponent = 0;
  if (p < end && (*p | 0x20) == 'e') {
    ++p;
    bool minus = false;
    if (p < end && (*p == '-' || *p == '+')) minus = *p++ == '-';
    if (p == end) return out;
    for (; p < end && *p >= '0' && *p <= '9'; ++p)
      if (exponent < (int64_t{1} << 40)) exponent = exponent * 10 + (*p - '0');
    if (minus) exponent = -exponent;
  }
  if (p != end) return out;
  // Digits before position `cut` make the nanoseconds, the rest decides the rounding.
  const int64_t cut = before + exponent + 3;
  constexpr uint64_t kNearLimit = static_cast<uint64_t>(kTimeLimitNs) / 10;
  uint64_t v = 0;
  int64_t i = 0;
  int half = 0;  // of the first digit left out: 0 below five, 1 five, 2 above
  bool rest = false, rest_after_first = false;
  for (const char* d = digits; d < digits_end; ++d) {
    if (*d == '.') continue;
    const unsigned digit = static_cast<unsigned>(*d - '0');
    if (i < cut) {
      v = v > kNearLimit ? static_cast<uint64_t>(kTimeLimitNs) : v * 10 + digit;
      if (v >= static_cast<uint64_t>(kTimeLimitNs)) break;
    } else {
      rest |= digit != 0;
      if (i == cut)
        half = digit > 5 ? 2 : digit == 5 ? 1 : 0;
      else
        rest_after_first |= digit != 0;
    }
    ++i;
  }
  for (; i < cut && v != 0 && v < static_cast<uint64_t>(kTimeLimitNs); ++i)
    v = v > kNearLimit ? static_cast<uint64_t>(kTimeLimitNs) : v * 10;
  if (v >= static_cast<uint64_t>(kTimeLimitNs)) {
    out.state = TimeState::out_of_range;
    return out;
  }
  if (half == 2 || (half == 1 && (rest_after_first || (v & 1) != 0))) ++v;
  out.rounded = rest;
  out.state =
      v >= static_cast<uint64_t>(kTimeLimitNs) ? TimeState::out_of_range : TimeState::good;
  out.ns = negative ? -static_cast<int64_t>(v) : static_cast<int64_t>(v);
  return out;
}

}  // namespace laptime::scan
