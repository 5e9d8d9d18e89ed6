// Searches in raw text, sixteen or thirty-two bytes at a time.
//
// Every search may read kPad bytes past `end`; callers guarantee that they are readable. A result
// at or beyond `end` means "not found yet": the byte it points at must not be interpreted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define LAPTIME_SSE2 1
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#define LAPTIME_NEON 1
#endif
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define LAPTIME_INLINE static __forceinline
#define LAPTIME_NOINLINE static __declspec(noinline)
#define LAPTIME_MEMBER __forceinline
#else
#define LAPTIME_INLINE static inline __attribute__((always_inline))
#define LAPTIME_NOINLINE static __attribute__((noinline, unused))
#define LAPTIME_MEMBER inline __attribute__((always_inline))
#endif

namespace laptime::scan {

constexpr size_t kPad = 256;

LAPTIME_INLINE uint64_t load64(const char* p) {
  uint64_t v;
  memcpy(&v, p, 8);
  return v;
}

LAPTIME_INLINE uint32_t load32(const char* p) {
  uint32_t v;
  memcpy(&v, p, 4);
  return v;
}

LAPTIME_INLINE unsigned low_bit(uint64_t v) {
#if defined(_MSC_VER) && !defined(__clang__)
  unsigned long i;
  _BitScanForward64(&i, v);
  return static_cast<unsigned>(i);
#else
  return static_cast<unsigned>(__builtin_ctzll(v));
#endif
}

// Bytes up to the space are all taken as white space: NUL padding and stray control characters
// between tokens carry nothing.
LAPTIME_INLINE bool is_space(char c) { return static_cast<unsigned char>(c) <= 0x20; }

// One block of text. `kStep` bits of a mask stand for one byte. Unnamed namespace: each
// instruction set compiles its own.
namespace {
#if defined(__AVX2__)
struct Block {
  static constexpr size_t kBytes = 32;
  static constexpr unsigned kStep = 1;
  using Mask = uint32_t;
  __m256i v;
  static Block at(const char* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
  }
  static Mask mask(__m256i m) { return static_cast<Mask>(_mm256_movemask_epi8(m)); }
  Mask quote_or_backslash() const {
    return mask(_mm256_or_si256(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('"')),
                                _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\\'))));
  }
  Mask not_space() const {
    const __m256i low = _mm256_min_epu8(v, _mm256_set1_epi8(0x20));
    return ~mask(_mm256_cmpeq_epi8(low, v));
  }
  // The end of a bare word: space , " : and the four brackets.
  Mask delimiter() const {
    const __m256i folded = _mm256_or_si256(v, _mm256_set1_epi8(0x20));
    __m256i m = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(0x22)), v);  // incl. '!'
    m = _mm256_or_si256(m, _mm256_cmpeq_epi8(v, _mm256_set1_epi8(',')));
    m = _mm256_or_si256(m, _mm256_cmpeq_epi8(v, _mm256_set1_epi8(':')));
    m = _mm256_or_si256(m, _mm256_cmpeq_epi8(folded, _mm256_set1_epi8('{')));
    m = _mm256_or_si256(m, _mm256_cmpeq_epi8(folded, _mm256_set1_epi8('}')));
    return mask(m);
  }
  Mask is(char c) const { return mask(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(c))); }
  Mask brace() const {
    const __m256i m = _mm256_or_si256(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('{')),
                                      _mm256_cmpeq_epi8(v, _mm256_set1_epi8('}')));
    return mask(m);
  }
  Mask quote_or_bracket() const {
    const __m256i folded = _mm256_or_si256(v, _mm256_set1_epi8(0x20));
    __m256i m = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('"'));
    m = _mm256_or_si256(m, _mm256_cmpeq_epi8(folded, _mm256_set1_epi8('{')));
    m = _mm256_or_si256(m, _mm256_cmpeq_epi8(folded, _mm256_set1_epi8('}')));
    return mask(m);
  }
};
#elif defined(LAPTIME_SSE2)
struct Block {
  static constexpr size_t kBytes = 16;
  static constexpr unsigned kStep = 1;
  using Mask = uint32_t;
  __m128i v;
  static Block at(const char* p) {
    return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))};
  }
  static Mask mask(__m128i m) { return static_cast<Mask>(_mm_movemask_epi8(m)); }
  Mask quote_or_backslash() const {
    return mask(
        _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
  }
  Mask not_space() const {
    return mask(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x20)), v)) ^ 0xFFFFu;
  }
  Mask delimiter() const {
    const __m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20));
    __m128i m = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x22)), v);
    m = _mm_or_si128(m, _mm_cmpeq_epi8(v, _mm_set1_epi8(',')));
    m = _mm_or_si128(m, _mm_cmpeq_epi8(v, _mm_set1_epi8(':')));
    m = _mm_or_si128(m, _mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    m = _mm_or_si128(m, _mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
    return mask(m);
  }
  Mask is(char c) const { return mask(_mm_cmpeq_epi8(v, _mm_set1_epi8(c))); }
  Mask brace() const {
    return mask(
        _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('{')), _mm_cmpeq_epi8(v, _mm_set1_epi8('}'))));
  }
  Mask quote_or_bracket() const {
    const __m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20));
    __m128i m = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    m = _mm_or_si128(m, _mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    m = _mm_or_si128(m, _mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
    return mask(m);
  }
};
#elif defined(LAPTIME_NEON)
struct Block {
  static constexpr size_t kBytes = 16;
  static constexpr unsigned kStep = 4;  // vshrn leaves four bits for each byte
  using Mask = uint64_t;
  uint8x16_t v;
  static Block at(const char* p) {
    return {vld1q_u8(reinterpret_cast<const uint8_t*>(p))};
  }
  static Mask mask(uint8x16_t m) {
    const uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(m), 4);
    return vget_lane_u64(vreinterpret_u64_u8(narrow), 0) & 0x1111111111111111ull;
  }
  uint8x16_t is(char c) const { return vceqq_u8(v, vdupq_n_u8(static_cast<uint8_t>(c))); }
  uint8x16_t bracket() const {
    const uint8x16_t folded = vorrq_u8(v, vdupq_n_u8(0x20));
    return vorrq_u8(vceqq_u8(folded, vdupq_n_u8('{')), vceqq_u8(folded, vdupq_n_u8('}')));
  }
  Mask quote_or_backslash() const { return mask(vorrq_u8(is('"'), is('\\'))); }
  Mask not_space() const { return mask(vcgtq_u8(v, vdupq_n_u8(0x20))); }
  Mask delimiter() const {
    const uint8x16_t low = vcleq_u8(v, vdupq_n_u8(0x22));
    return mask(vorrq_u8(vorrq_u8(low, bracket()), vorrq_u8(is(','), is(':'))));
  }
  Mask quote_or_bracket() const { return mask(vorrq_u8(is('"'), bracket())); }
};
#else
struct Block {  // one byte at a time: correct everywhere, fast nowhere
  static constexpr size_t kBytes = 1;
  static constexpr unsigned kStep = 1;
  using Mask = uint32_t;
  char c;
  static Block at(const char* p) { return {*p}; }
  bool bracket() const { return (c | 0x20) == '{' || (c | 0x20) == '}'; }
  Mask quote_or_backslash() const { return c == '"' || c == '\\'; }
  Mask not_space() const { return !is_space(c); }
  Mask delimiter() const {
    return static_cast<unsigned char>(c) <= 0x22 || c == ',' || c == ':' || bracket();
  }
  Mask quote_or_bracket() const { return c == '"' || bracket(); }
};
#endif
}  // namespace

#if defined(LAPTIME_SSE2) || defined(__AVX2__)
#define LAPTIME_WIDE 1
// Sixty-four bytes as bit sets, one bit a byte.
namespace {
struct Wide {
  uint64_t quote, backslash, open, close, brace;
  LAPTIME_MEMBER static Wide at(const char* p) {
    Wide w{0, 0, 0, 0, 0};
    for (size_t i = 0; i < 64; i += Block::kBytes) {
      const Block b = Block::at(p + i);
      w.quote |= static_cast<uint64_t>(b.is('"')) << i;
      w.backslash |= static_cast<uint64_t>(b.is('\\')) << i;
      w.open |= static_cast<uint64_t>(b.is('[')) << i;
      w.close |= static_cast<uint64_t>(b.is(']')) << i;
      w.brace |= static_cast<uint64_t>(b.brace()) << i;
    }
    return w;
  }
};
}  // namespace

// Each bit becomes the parity of itself and all bits below: with quotes, what is inside strings.
LAPTIME_INLINE uint64_t parity_below(uint64_t x) {
  x ^= x << 1;
  x ^= x << 2;
  x ^= x << 4;
  x ^= x << 8;
  x ^= x << 16;
  x ^= x << 32;
  return x;
}

LAPTIME_INLINE unsigned bit_count(uint64_t v) {
#if defined(_MSC_VER) && !defined(__clang__)
  return static_cast<unsigned>(__popcnt64(v));
#else
  return static_cast<unsigned>(__builtin_popcountll(v));
#endif
}
#endif

LAPTIME_INLINE const char* skip_space(const char* p, const char* end) {
  if (!is_space(p[0])) return p;
  if (!is_space(p[1])) return p + 1;
  for (;;) {
    const Block::Mask m = Block::at(p).not_space();
    if (m != 0) return p + low_bit(m) / Block::kStep;
    p += Block::kBytes;
    if (p >= end) return p;
  }
}

// The next quote or backslash.
LAPTIME_INLINE const char* find_quote(const char* p, const char* end) {
  for (;;) {
    const Block::Mask m = Block::at(p).quote_or_backslash();
    if (m != 0) return p + low_bit(m) / Block::kStep;
    p += Block::kBytes;
    if (p >= end) return p;
  }
}

// The first byte that cannot belong to a bare word (number, true, NaN, ...).
LAPTIME_INLINE const char* find_delimiter(const char* p, const char* end) {
  for (;;) {
    const Block::Mask m = Block::at(p).delimiter();
    if (m != 0) return p + low_bit(m) / Block::kStep;
    p += Block::kBytes;
    if (p >= end) return p;
  }
}

}  // namespace laptime::scan
