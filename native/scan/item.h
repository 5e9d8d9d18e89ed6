// One item of traceEvents as the parser leaves it: slices of the text and finished integers.
// Plain data only: this header is compiled once for each instruction set.
#pragma once

#include "scan/layout.h"
#include "scan/number.h"

namespace laptime::scan {

constexpr uint64_t kNoId = UINT64_MAX;
constexpr int64_t kNoOrdinal = INT64_MIN;

struct Limits {
  uint32_t max_depth = 512;
  uint64_t max_string_bytes = uint64_t{16} << 20;
  uint64_t max_head_bytes = uint64_t{64} << 20;
  uint64_t max_name_table_bytes = uint64_t{1} << 30;
  uint64_t max_item_bytes = uint64_t{64} << 20;
};

// digits: fewer than sixteen digits and nothing else; their value stands in `size`.
enum class Kind : uint8_t { absent, text, number, word, nested, digits };

struct Value {
  const char* at = nullptr;  // text: between the quotes
  uint64_t size = 0;
  Kind kind = Kind::absent;
  bool escaped = false;  // a backslash is inside
};

enum class Outcome : uint8_t { whole, more, broken };
enum class Fault : uint8_t { unreadable, too_deep, string_too_long };

// Arguments that become columns of their own. The texts are spelt as in the trace.
enum Arg : uint8_t {
  kCorrelation, kExternalId, kPythonId, kPythonParent, kDevice, kStream,
  kMetaName, kMetaLabels, kMetaSortIndex,
  kFirstInt,
  kBytesLower = kFirstInt, kGraphId, kGraphNodeId, kBytes, kAddr, kTotalAllocated, kTotalReserved,
  kDeviceId, kDeviceType, kInMsgNelems, kOutMsgNelems, kGroupSize, kSeq, kSrcRank, kDstRank,
  kGlobalRankStart, kGlobalRankStride, kWaitOnStream, kWaitOnRecord, kWaitOnEvent, kEventId,
  kHsaQueue, kQueue,
  kFirstText,
  kCollectiveName = kFirstText, kDtype, kGroupName, kGroupDescription, kGroupRanks, kCopyKind,
  kSyncKind, kSrc, kDst,
  kArgs
};
constexpr uint8_t kNoArg = 255;
constexpr int kIntArgs = kFirstText - kFirstInt;
constexpr int kTextArgs = kArgs - kFirstText;
static_assert(kArgs <= 64, "one bit each");

constexpr const char* kIntArgNames[kIntArgs] = {
    "bytes", "graph id", "graph node id", "Bytes", "Addr", "Total Allocated", "Total Reserved",
    "Device Id", "Device Type", "In msg nelems", "Out msg nelems", "Group size", "Seq", "Src Rank",
    "Dst Rank", "Global rank start", "Global rank stride", "wait_on_stream",
    "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_id", "event_id", "hsa_queue", "queue"};
constexpr const char* kTextArgNames[kTextArgs] = {
    "Collective name", "dtype", "Process Group Name", "Process Group Description",
    "Process Group Ranks", "kind", "cuda_sync_kind", "src", "dst"};

// Oddities that were accepted; they are counted only for items that were kept.
struct Oddities {
  uint32_t duplicate_keys = 0, trailing_commas = 0, missing_commas = 0, missing_values = 0,
           raw_quotes = 0, ids_out_of_range = 0;
};

struct Item {
  Value phase, name, category, pid, tid, id;
  Time start, dur;
  const char* args_at = nullptr;
  uint64_t args_size = 0;
  uint64_t ids[4] = {kNoId, kNoId, kNoId, kNoId};
  int64_t device = kNoOrdinal, stream = kNoOrdinal;
  uint64_t arg_seen = 0;
  uint32_t seen = 0;
  Fault fault = Fault::unreadable;
  const char* stop = nullptr;  // where a broken item could not be read on
  Oddities odd;
  Value meta;
  uint64_t int_seen = 0;  // bit per integer argument that holds a usable value
  int64_t ints[kIntArgs];
  uint64_t text_seen = 0;
  Value texts[kTextArgs];
  Layout* layout = nullptr;  // of the items so far; null: none is kept

  LAPTIME_MEMBER void clear() {
    phase.kind = name.kind = category.kind = pid.kind = tid.kind = id.kind = Kind::absent;
    start = dur = Time{};
    odd = Oddities{};
    seen = 0;
    fault = Fault::unreadable;
    clear_args();
  }
  LAPTIME_MEMBER void clear_args() {
    args_at = nullptr;
    args_size = 0;
    for (uint64_t& v : ids) v = kNoId;
    device = stream = kNoOrdinal;
    arg_seen = int_seen = text_seen = 0;
    meta.kind = Kind::absent;
  }
};

// Parses one item from its opening brace. On `whole`, *next is just behind the closing brace;
// on `broken`, item->stop is where reading failed; on `more`, the text ended first.
using ParseItem = Outcome (*)(const char* p, const char* end, const Limits& limits, Item* item,
                              const char** next);
Outcome parse_item_base(const char*, const char*, const Limits&, Item*, const char**);
Outcome parse_item_avx2(const char*, const char*, const Limits&, Item*, const char**);
// Accepts more: raw quotes inside strings, missing commas.
Outcome parse_item_lenient(const char*, const char*, const Limits&, Item*, const char**);
// The fastest that this machine can run; `portable`: the one that every machine can.
ParseItem best_parse_item(bool portable);

// Skips one JSON value of any kind (for the keys beside traceEvents).
Outcome skip_any_value(const char* p, const char* end, const Limits& limits, Value* value,
                       const char** next, Fault* fault);

}  // namespace laptime::scan
