// A growing column that hands its memory over in the end, without a copy.
//
// On Linux growth moves page-table entries (mremap), not bytes, and pages never written cost
// nothing: peak memory is the column itself. Pages are asked for in runs, just ahead of the
// writer: one fault for each page was a sixth of a scan's time.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace laptime::scan {

// Memory of a finished column; released by whoever holds it last.
struct Memory {
  void* at = nullptr;
  size_t bytes = 0;  // as mapped

  static constexpr size_t kHuge = size_t{4} << 20;

  static Memory resized(Memory old, size_t bytes) {
#if defined(__linux__)
    void* p = old.at == nullptr
                  ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                  : mremap(old.at, old.bytes, bytes, MREMAP_MAYMOVE);
    if (p == MAP_FAILED) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    // Fewer page faults; at most one unfinished huge page is a small part of such a column.
    if (bytes >= kHuge) madvise(p, bytes, MADV_HUGEPAGE);
#endif
#else
    void* p = std::realloc(old.at, bytes);
    if (p == nullptr) throw std::bad_alloc();
#endif
    return {p, bytes};
  }
  // Backs [from, to) with pages, as far as this kernel can; writing there works in any case.
  static void prepare(Memory m, size_t from, size_t to) {
#if defined(__linux__)
    constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE; older headers do not name it
    madvise(static_cast<char*>(m.at) + from, to - from, kPopulateWrite);
#else
    (void)m, (void)from, (void)to;
#endif
  }
  static void release(Memory m) {
    if (m.at == nullptr) return;
#if defined(__linux__)
    munmap(m.at, m.bytes);
#else
    std::free(m.at);
#endif
  }
};

template <class T>
class Column {
 public:
  Column() = default;
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  Column(Column&& o) noexcept
      : memory_(std::exchange(o.memory_, {})),
        ready_(std::exchange(o.ready_, 0)),
        size_(std::exchange(o.size_, 0)) {}
  ~Column() { Memory::release(memory_); }

  size_t size() const { return size_; }
  T* data() { return static_cast<T*>(memory_.at); }
  const T* data() const { return static_cast<const T*>(memory_.at); }
  T& operator[](size_t i) { return data()[i]; }

  void push(T v) {
    if (size_ == capacity()) reserve(size_ + 1);
    data()[size_++] = v;
  }
  void reserve(size_t n) {
    if (n <= capacity()) return;
    size_t step = ready_ / 8;
    if (step < kFirst) step = kFirst;
    if (step > kMostAhead) step = kMostAhead;
    size_t wanted = ready_ + step;
    if (wanted < n * sizeof(T)) wanted = n * sizeof(T);
    wanted = (wanted + kPage - 1) / kPage * kPage;
    if (wanted > memory_.bytes) {
      const size_t more = (memory_.bytes + memory_.bytes / 2 + kPage - 1) / kPage * kPage;
      memory_ = Memory::resized(memory_, wanted > more ? wanted : more);
    }
    Memory::prepare(memory_, ready_, wanted);
    ready_ = wanted;
  }
  size_t capacity() const { return ready_ / sizeof(T); }

  // For writers that fill several columns of one length and check the room once.
  void set_size(size_t n) { size_ = n; }

  Memory take() {
    size_ = ready_ = 0;
    return std::exchange(memory_, {});
  }

 private:
  static constexpr size_t kPage = 4096, kFirst = 16384, kMostAhead = size_t{1} << 20;
  Memory memory_;
  size_t ready_ = 0;  // bytes handed out for writing, the mapped ones at most
  size_t size_ = 0;
};

// An optional identifier of each row: nothing is stored until a row has one, 32 bits until one
// needs more. Missing is all ones.
class IdColumn {
 public:
  bool present() const { return present_; }
  bool wide() const { return wide_; }

  void put(size_t row, uint64_t v) {
    if (v == UINT64_MAX && !present_) return;
    if (!present_) begin(row);
    if (!wide_) {
      if (v >= UINT32_MAX && v != UINT64_MAX) {
        widen();
      } else {
        narrow_.push(static_cast<uint32_t>(v));  // UINT64_MAX becomes all ones of 32 bits
        return;
      }
    }
    wide_column_.push(v);
  }
  Memory take() { return wide_ ? wide_column_.take() : narrow_.take(); }

 private:
  void begin(size_t rows_before) {
    present_ = true;
    narrow_.reserve(rows_before + 1);
    std::memset(narrow_.data(), 0xFF, rows_before * sizeof(uint32_t));
    narrow_.set_size(rows_before);
  }
  void widen() {
    wide_ = true;
    wide_column_.reserve(narrow_.size() + 1);
    for (size_t i = 0; i < narrow_.size(); ++i)
      wide_column_.push(narrow_[i] == UINT32_MAX ? UINT64_MAX : narrow_[i]);
    Memory::release(narrow_.take());
  }

  Column<uint32_t> narrow_;
  Column<uint64_t> wide_column_;
  bool present_ = false, wide_ = false;
};

}  // namespace laptime::scan
