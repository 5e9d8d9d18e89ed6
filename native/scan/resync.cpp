// Behind damage: the search for the next place from which reading can go on.
#include <algorithm>

#include "scan/scanner.h"

namespace laptime::scan {

namespace {

constexpr size_t kLookahead = 4096;  // spaces and a key, at most, before a colon

template <size_t N>
bool one_of(const char* const (&keys)[N], const char* k, size_t n) {
  for (const char* key : keys)
    if (std::strlen(key) == n && std::memcmp(key, k, n) == 0) return true;
  return false;
}

constexpr const char* kEventKeys[] = {"ph", "cat", "name", "pid",  "tid",   "ts",      "dur", "id",
                                      "args", "s", "bp",   "tts",  "tdur",  "cname",   "bind_id",
                                      "sf", "id2", "scope"};
// Keys met beside traceEvents. Arguments can look like the end of the array (`[{..}], "x": 1`), so
// behind damage only these are believed.
constexpr const char* kTopKeys[] = {
    "traceName", "displayTimeUnit", "baseTimeNanoseconds", "baseTimeNanosecond", "distributedInfo",
    "schemaVersion", "deviceProperties", "trace_id", "otherData", "metadata", "stackFrames",
    "samples", "systemTraceEvents", "powerTraceAsString", "controllerTraceDataKey",
    "record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules",
    "cupti_version", "cuda_runtime_version", "cuda_driver_version", "hip_runtime_version",
    "hip_driver_version", "traceEvents"};

}  // namespace

// Marks damage that began at p; reading resumes at `resume`, in search of an item.
const char* Scanner::lose_from(const char* p, const char* resume, Loss why) {
  lost_from_ = offset(p);
  lost_why_ = why;
  state_ = State::lost;
  after_comma_ = after_item_ = false;
  before_ = 0;
  fresh_line_ = true;  // text after the end, or top-level damage, may begin with an item
  remember_before(p, resume);
  return resume;
}

void Scanner::remember_before(const char* from, const char* to) {
  for (const char* q = to; q > from;) {
    --q;
    if (*q == '\n') {
      fresh_line_ = true;
      // The byte before may lie further back: keep looking for it.
      while (q > from && is_space(*q)) --q;
      if (!is_space(*q)) before_ = *q;
      return;
    }
    if (!is_space(*q)) {
      before_ = *q;
      fresh_line_ = false;
      return;
    }
  }
}

void Scanner::found(const char* p) {
  // A cut was supposed while nothing whole followed.
  if (lost_why_ == Loss::cut_short) {
    lost_why_ = Loss::unreadable_item;
    ++tally.items;
  }
  tally.lose(lost_why_, lost_from_);
  tally.bytes_skipped += offset(p) - lost_from_;
}

// Does an item seem to begin at the brace p: where a value may begin, with a key of events first?
bool Scanner::plausible_start(const char* p, const char* end, bool last, bool* undecided) const {
  *undecided = false;
  const bool where = before_ == ',' || before_ == '[' || before_ == '}' || fresh_line_;
  if (!where) return false;
  const char* stop = std::min(end, p + kLookahead);
  const char* q = p + 1;
  while (q < stop && is_space(*q)) ++q;
  const char* k = q + 1;
  if (q < stop && *q != '"') return false;
  const char* e = k;
  while (e < stop && *e != '"' && *e != '\n') ++e;
  if (e < stop && (*e != '"' || !one_of(kEventKeys, k, static_cast<size_t>(e - k)))) return false;
  const char* c = e + 1;
  while (c < stop && is_space(*c)) ++c;
  if (c < stop) return *c == ':';
  *undecided = stop == end && !last;
  return false;
}

// Does the bracket p end the array of events: behind an item, before a top-level key or the end?
bool Scanner::closes_items(const char* p, const char* end, bool last, bool* undecided) const {
  *undecided = false;
  // Where the last item ran into the end of the text, a bracket is more likely its own.
  if (before_ != '}' || lost_why_ == Loss::cut_short) return false;
  const char* stop = std::min(end, p + kLookahead);
  const auto next = [stop](const char* q) {
    do ++q;
    while (q < stop && is_space(*q));
    return q;
  };
  const char* q = next(p);
  if (root_ == Root::object && q < stop && *q == '}') q = next(q);
  if (q >= stop) {
    *undecided = stop == end && !last;
    return last && stop == end;
  }
  if (root_ != Root::object || *q != ',') return false;
  q = next(q);
  if (q < stop && *q != '"') return false;
  const char* k = q + 1;
  const char* e = k;
  while (e < stop && *e != '"' && *e != '\n') ++e;
  if (e < stop) return *e == '"' && one_of(kTopKeys, k, static_cast<size_t>(e - k));
  *undecided = stop == end && !last;
  return false;
}

const char* Scanner::lost(const char* p, const char* end, bool last) {
  const char* from = p;
  for (; p < end; ++p) {
    const char c = *p;
    if (c != '{' && c != ']') continue;
    remember_before(from, p);
    from = p;
    bool undecided = false;
    if (c == ']') {
      if (closes_items(p, end, last, &undecided)) {
        found(p);
        state_ = State::items;
        return p;
      }
    } else if (plausible_start(p, end, last, &undecided)) {
      const char* next = p;
      const Outcome outcome = parse(p, end, &next);
      if (outcome == Outcome::whole && item_.phase.kind == Kind::text &&
          static_cast<uint64_t>(next - p) <= limits_.max_item_bytes) {
        found(p);
        state_ = State::items;
        ++tally.items;
        rows.take(item_, offset(p), buffer_, base_);
        after_item_ = true;
        return next;
      }
      if (outcome == Outcome::more && !last &&
          static_cast<uint64_t>(end - p) <= limits_.max_item_bytes)
        undecided = true;
      if (outcome == Outcome::broken && credit_ < 0 && item_.stop > p + 1) p = item_.stop - 1;
    }
    if (undecided) {
      waiting_ = true;
      remember_before(from, p);
      return p;
    }
  }
  remember_before(from, end);
  return end;
}

}  // namespace laptime::scan
