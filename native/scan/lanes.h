// Lanes: the distinct (process, thread, device, stream) combinations rows happen on.
#pragma once

#include <vector>

#include "scan/table.h"

namespace laptime::scan {

// A pid or tid as the text has it: absent, an integer, a string, or a number too odd for int64.
struct Token {
  enum What : uint8_t { none, integer, text, odd_number };
  int64_t value = 0;  // the integer, or an ordinal in the table of words
  What what = none;
  bool operator==(const Token& o) const { return value == o.value && what == o.what; }
};

struct Lane {
  Token pid, tid;
  int64_t device, stream;  // kNoOrdinal: absent
  bool operator==(const Lane& o) const {
    return pid == o.pid && tid == o.tid && device == o.device && stream == o.stream;
  }
};

inline uint64_t hash_tokens(const Token& pid, const Token& tid) {
  return fold(static_cast<uint64_t>(pid.value) ^ (uint64_t{pid.what} << 62) ^ 0x9E3779B97F4A7C15ull,
              static_cast<uint64_t>(tid.value) ^ (uint64_t{tid.what} << 62) ^ 0xD6E8FEB86659FD93ull);
}

class Lanes {
 public:
  int32_t of(const Lane& lane) {
    const uint64_t h =
        fold(hash_tokens(lane.pid, lane.tid) ^ static_cast<uint64_t>(lane.device),
             static_cast<uint64_t>(lane.stream) ^ seed_);
    const size_t mask = slots_.size() - 1;
    for (size_t i = h & mask;; i = (i + 1) & mask) {
      if (slots_[i] == 0) {
        lanes_.push_back(lane);
        hashes_.push_back(h);
        slots_[i] = static_cast<uint32_t>(lanes_.size());
        if (lanes_.size() * 2 > slots_.size()) grow();
        return static_cast<int32_t>(lanes_.size() - 1);
      }
      if (lanes_[slots_[i] - 1] == lane) return static_cast<int32_t>(slots_[i] - 1);
    }
  }
  const std::vector<Lane>& all() const { return lanes_; }

 private:
  void grow() {
    std::vector<uint32_t> wider(slots_.size() * 2, 0);
    const size_t mask = wider.size() - 1;
    for (size_t l = 0; l < lanes_.size(); ++l) {
      size_t i = hashes_[l] & mask;
      while (wider[i] != 0) i = (i + 1) & mask;
      wider[i] = static_cast<uint32_t>(l + 1);
    }
    slots_.swap(wider);
  }
  std::vector<Lane> lanes_;
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(256, 0);
  uint64_t seed_ = hash_seed() | 1;
};

}  // namespace laptime::scan
