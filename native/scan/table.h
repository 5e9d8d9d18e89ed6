// A dictionary of strings: each distinct text is stored once and known by its ordinal.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "scan/text.h"

namespace laptime::scan {

uint64_t hash_seed();  // drawn once a process: a hostile file cannot prepare collisions

LAPTIME_INLINE uint64_t fold(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
  const unsigned __int128 m = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(m) ^ static_cast<uint64_t>(m >> 64);
#else
  const uint64_t m = (a ^ (b >> 32)) * 0x9E3779B97F4A7C15ull;
  return (m ^ (m >> 29) ^ b) * 0xBF58476D1CE4E5B9ull;
#endif
}

LAPTIME_INLINE uint64_t hash_text(const char* p, size_t n, uint64_t seed) {
  constexpr uint64_t k1 = 0x9E3779B97F4A7C15ull, k2 = 0xD6E8FEB86659FD93ull;
  uint64_t h = seed ^ (n * k2);
  if (n >= 16) {
    const char* last = p + n - 16;
    for (; p < last; p += 16) h = fold(load64(p) ^ k1, load64(p + 8) ^ h);
    return fold(load64(last) ^ k2, load64(last + 8) ^ h) ^ h;
  }
  uint64_t a = 0, b = 0;
  if (n >= 8) {
    a = load64(p);
    b = load64(p + n - 8);
  } else if (n >= 4) {
    a = load32(p);
    b = load32(p + n - 4);
  } else if (n > 0) {
    a = static_cast<unsigned char>(p[0]);
    b = static_cast<unsigned char>(p[n >> 1]) |
        (static_cast<uint64_t>(static_cast<unsigned char>(p[n - 1])) << 8);
  }
  return fold(a ^ k1, b ^ h) ^ h;
}

// Bytes that never move, in pieces.
class Arena {
 public:
  const char* keep(const char* p, size_t n) {
    if (n == 0) return "";
    if (n > left_) {
      const size_t piece = n > kPiece / 4 ? n : kPiece;
      pieces_.emplace_back(static_cast<char*>(std::malloc(piece)));
      if (!pieces_.back()) throw std::bad_alloc();
      if (piece == n && n != kPiece) {  // a piece of its own; the current one stays open
        std::memcpy(pieces_.back().get(), p, n);
        return pieces_.back().get();
      }
      at_ = pieces_.back().get();
      left_ = piece;
    }
    char* out = at_;
    std::memcpy(out, p, n);
    at_ += n;
    left_ -= n;
    return out;
  }
  void clear() {
    pieces_.clear();
    at_ = nullptr;
    left_ = 0;
  }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  static constexpr size_t kPiece = size_t{1} << 16;
  std::vector<std::unique_ptr<char, Free>> pieces_;
  char* at_ = nullptr;
  size_t left_ = 0;
};

class StringTable {
 public:
  struct Entry {
    const char* at;
    uint32_t size;
  };
  static constexpr int32_t kFull = -1;

  explicit StringTable(size_t max_bytes = SIZE_MAX, size_t max_entries = INT32_MAX)
      : max_bytes_(max_bytes), max_entries_(max_entries), slots_(64, 0), seed_(hash_seed()) {}

  // The ordinal of a text, or kFull when a new one would pass the limits (the empty text never
  // does). `is_new` tells whether it was added by this call.
  int32_t intern(const char* p, size_t n, bool* is_new = nullptr) {
    const uint64_t h = hash_text(p, n, seed_);
    const uint32_t tag = static_cast<uint32_t>(h >> 32);
    const size_t mask = slots_.size() - 1;
    for (size_t i = h & mask;; i = (i + 1) & mask) {
      const uint64_t slot = slots_[i];
      if (slot == 0) return add(p, n, h, i, is_new);
      if (static_cast<uint32_t>(slot >> 32) != tag) continue;
      const Entry& e = entries_[static_cast<uint32_t>(slot) - 1];
      if (e.size == n && std::memcmp(e.at, p, n) == 0)
        return static_cast<int32_t>(static_cast<uint32_t>(slot) - 1);
    }
  }

  size_t size() const { return entries_.size(); }
  const Entry& operator[](size_t i) const { return entries_[i]; }
  void clear() {
    arena_.clear();
    entries_ = {};
    slots_.assign(64, 0);
    bytes_ = 0;
  }

 private:
  int32_t add(const char* p, size_t n, uint64_t h, size_t slot, bool* is_new) {
    const bool full = entries_.size() >= max_entries_ || n > max_bytes_ - bytes_ || n > UINT32_MAX;
    if (full && n != 0) return kFull;
    entries_.push_back({arena_.keep(p, n), static_cast<uint32_t>(n)});
    bytes_ += n;
    slots_[slot] = (h & 0xFFFFFFFF00000000ull) | static_cast<uint32_t>(entries_.size());
    if (is_new != nullptr) *is_new = true;
    if (entries_.size() * 2 > slots_.size()) grow();
    return static_cast<int32_t>(entries_.size() - 1);
  }

  void grow() {
    std::vector<uint64_t> wider(slots_.size() * 2, 0);
    const size_t mask = wider.size() - 1;
    for (size_t e = 0; e < entries_.size(); ++e) {
      const uint64_t h = hash_text(entries_[e].at, entries_[e].size, seed_);
      size_t i = h & mask;
      while (wider[i] != 0) i = (i + 1) & mask;
      wider[i] = (h & 0xFFFFFFFF00000000ull) | static_cast<uint32_t>(e + 1);
    }
    slots_.swap(wider);
  }

  size_t max_bytes_, max_entries_, bytes_ = 0;
  std::vector<Entry> entries_;
  std::vector<uint64_t> slots_;
  Arena arena_;
  uint64_t seed_;
};

}  // namespace laptime::scan
