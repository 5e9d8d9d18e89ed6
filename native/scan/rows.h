// Items to columns: what each phase becomes, and what is refused.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "scan/column.h"
#include "scan/lanes.h"
#include "scan/tally.h"

namespace laptime::scan {

struct SparseInts {
  Column<uint32_t> row;
  Column<int64_t> value;
};
struct SparseTexts {
  Column<uint32_t> row;
  Column<int32_t> value;
};
struct Meta {
  int32_t name, value;  // ordinals of words
  Token pid, tid;
};

class Rows {
 public:
  Rows(const Limits& limits, Tally* tally)
      : names(limits.max_name_table_bytes),
        categories(SIZE_MAX, 65535),
        texts(limits.max_name_table_bytes),
        words(limits.max_name_table_bytes),
        tally_(*tally) {}

  // `offset` is where the item began; `origin` is the offset of the byte at `base`.
  void take(const Item& item, uint64_t offset, const char* base, uint64_t origin);

  // Closes begins that never ended.
  void close();

  size_t size() const { return start.size(); }

  Column<int64_t> start, dur;
  Column<int32_t> name, lane;
  Column<uint16_t> category;
  Column<uint8_t> phase;
  Column<uint64_t> args_offset;
  Column<uint32_t> args_length;
  bool has_args = false;
  IdColumn ids[4];
  SparseInts ints[kIntArgs];
  SparseTexts text_args[kTextArgs];

  Column<uint64_t> flow_id;
  Column<int64_t> flow_ns;
  Column<int32_t> flow_lane;
  Column<uint8_t> flow_phase;
  Column<uint16_t> flow_category;

  std::vector<Meta> meta;
  Lanes lanes;
  StringTable names, categories, texts, words;

 private:
  struct Open {
    uint32_t row;
    uint64_t offset;
  };
  struct Nest {
    std::vector<Open> open;
    int64_t last_ns = INT64_MIN;
  };
  struct Thread {
    Token pid, tid;
    bool operator==(const Thread& o) const { return pid == o.pid && tid == o.tid; }
  };
  struct HashThread {
    size_t operator()(const Thread& t) const { return hash_tokens(t.pid, t.tid) ^ hash_seed(); }
  };

  bool usable_start(const Item& item, uint64_t offset);
  int64_t duration(const Item& item, uint64_t offset, bool* keep);
  Token token(const Value& v);
  int32_t put_in(StringTable* table, const Value& v, uint64_t offset);
  int32_t put_in_checked(StringTable* table, const char* p, size_t n);
  uint16_t category_of(const Item& item, uint64_t offset);
  int32_t word(const Value& v, uint64_t offset);
  int32_t lane_of(const Item& item, const Token& pid, const Token& tid);
  void add_row(const Item& item, uint8_t ph, int64_t dur_ns, uint64_t offset, const char* base,
               uint64_t origin);
  void add_flow(const Item& item, uint8_t ph, uint64_t offset);
  void add_meta(const Item& item, uint64_t offset);
  void end(const Item& item, uint64_t offset);
  void close_unmatched(const Open& open, int64_t at_ns);

  Tally& tally_;
  std::string scratch_;
  StringTable meta_seen_;
  std::unordered_map<Thread, Nest, HashThread> nests_;
};

}  // namespace laptime::scan
