// The scanner: a trace's text in chunks of any size, to columns, in one pass.
#pragma once

#include <string>
#include <vector>

#include "scan/rows.h"

namespace laptime::scan {

struct HeadValue {
  std::string key;  // escapes resolved
  std::string raw;  // JSON text
  uint64_t offset;  // of the value
};

enum class Root : uint8_t { none, object, list };

class Scanner {
 public:
  // `portable`: without the instructions that only some machines have (for tests).
  explicit Scanner(const Limits& limits, bool portable = false);

  void feed(const char* data, size_t size);
  void finish();

  Root root() const { return root_; }
  uint64_t text_bytes() const { return fed_; }

  Tally tally;
  Rows rows;
  std::vector<HeadValue> head;

 private:
  enum class State : uint8_t {
    begin,     // nothing seen but white space
    not_json,  // neither object nor array: the rest is ignored
    top,       // inside the root object
    items,     // inside the array of events
    lost,      // behind damage, looking for the next item
    oversize,  // inside a top-level value that is too large to keep
    end        // behind the root
  };

  // Reads what is complete in [p, end); kPad readable bytes must follow `end`. Returns how far it
  // came. `last`: nothing follows.
  const char* consume(const char* p, const char* end, bool last);
  const char* begin(const char* p, const char* end, bool last);
  const char* top(const char* p, const char* end, bool last);
  const char* top_value(const char* key, size_t key_size, const char* value, const char* p,
                        const char* end, bool last);
  const char* items(const char* p, const char* end, bool last);
  const char* item(const char* p, const char* end, bool last);
  const char* plain_item(const char* p, const char* end, bool last);
  const char* lost(const char* p, const char* end, bool last);
  const char* oversize(const char* p, const char* end);

  Outcome parse(const char* p, const char* end, const char** next);
  const char* lose_from(const char* p, const char* resume, Loss why);
  void found(const char* p);
  bool plausible_start(const char* p, const char* end, bool last, bool* undecided) const;
  bool closes_items(const char* p, const char* end, bool last, bool* undecided) const;
  void remember_before(const char* from, const char* to);
  uint64_t offset(const char* p) const { return base_ + static_cast<uint64_t>(p - buffer_); }
  const char* hold(const char* p, const char* end) {
    held_ = static_cast<uint64_t>(end - p);
    return p;
  }

  Limits limits_;
  ParseItem parse_item_;
  Item item_;
  Layout layout_;
  State state_ = State::begin;
  Root root_ = Root::none;
  bool waiting_ = false;       // consume needs more text
  bool after_comma_ = false;   // in items: a comma was the last token
  bool after_item_ = false;    // in items: an item was the last token
  bool ended_ = false;

  // While lost:
  uint64_t lost_from_ = 0;
  Loss lost_why_ = Loss::unreadable_item;
  char before_ = ' ';          // last byte that is no space before the text at hand
  bool fresh_line_ = false;    // only spaces since the last newline
  int64_t credit_ = 1 << 20;   // bytes that failed attempts may still cost; keeps rescans linear

  // While in an oversize value:
  uint64_t depth_ = 0;
  bool in_string_ = false, escape_ = false;

  uint64_t held_ = 0;
  uint64_t base_ = 0;             // offset of *buffer_
  const char* buffer_ = nullptr;  // what consume works on
  uint64_t fed_ = 0;
  std::vector<char> carry_;       // text kept from chunk to chunk, then kPad zeros
  size_t carried_ = 0;
  size_t retry_at_ = 0;
};

}  // namespace laptime::scan
