// The layouts items have had so far: what stood between their values, byte for byte.
//
// A profiler writes the items of a kind with the same keys, order and white space. Each text
// between two values that was once read the general way becomes a step, after the steps before it;
// a later item that repeats those bytes is taken past them by one comparison. The same bytes
// between two values always read the same, so a layout changes how fast an item is read, never
// what is read from it. Memory is fixed: learning ends when it is full, and starts afresh when
// the steps no longer fit the text.
#pragma once

#include <cstring>

#include "scan/text.h"

namespace laptime::scan {

struct Step {
  static constexpr size_t kMost = 40;  // `,\n      "est. achieved occupancy %": ` is 36
  uint64_t text[5] = {}, mask[5] = {};
  Step *first_child = nullptr, *sibling = nullptr;
  uint8_t size = 0;
  uint8_t what = 0;  // whatever the parser called it
};

class Layout {
 public:
  Layout() = default;
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  Step* start() { return steps_; }

  // Remembers that `size` bytes at p were met at `after`; where that leads. Null: nowhere known.
  Step* learn(Step* after, const char* p, size_t size, uint8_t what) {
    if (after == nullptr || size == 0 || size > Step::kMost) return nullptr;
    Step** link = &after->first_child;
    for (unsigned i = 0; *link != nullptr; ++i, link = &(*link)->sibling)
      if (i == kMostSiblings) return miss();
    if (count_ == kSteps) return miss();
    Step& s = steps_[count_++];
    s = Step{};
    std::memcpy(s.text, p, size);
    std::memset(s.mask, 0xFF, size);
    s.size = static_cast<uint8_t>(size);
    s.what = what;
    return *link = &s;
  }

 private:
  static constexpr unsigned kSteps = 512, kMostSiblings = 8, kMostMisses = 1 << 14;

  Step* miss() {
    if (++misses_ == kMostMisses) {
      misses_ = 0;
      count_ = 1;
      steps_[0] = Step{};
    }
    return nullptr;
  }

  Step steps_[kSteps];
  unsigned count_ = 1, misses_ = 0;
};

namespace {
// Are the bytes at p those of the step? Reads Step::kMost bytes.
LAPTIME_INLINE bool fits(const Step& s, const char* p) {
  if (((load64(p + 32) ^ s.text[4]) & s.mask[4]) != 0) return false;
#if defined(__AVX2__)
  const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s.text));
  const __m256i mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s.mask));
  const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm256_testz_si256(_mm256_xor_si256(here, text), mask) != 0;
#else
  uint64_t other = 0;
  for (int i = 0; i < 4; ++i) other |= (load64(p + 8 * i) ^ s.text[i]) & s.mask[i];
  return other == 0;
#endif
}
}  // namespace

}  // namespace laptime::scan
