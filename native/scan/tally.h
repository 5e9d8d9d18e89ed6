// What was lost and what was odd: every count the scanner reports.
#pragma once

#include <array>
#include <cstdint>

#include "scan/item.h"

namespace laptime::scan {

enum class Loss : uint8_t {
  unreadable_item, too_deep, string_too_long, item_too_large, not_an_object, no_phase, no_start,
  start_out_of_range, negative_dur, dur_not_a_number, dur_out_of_range, flow_without_id,
  unmatched_begin, unmatched_end, cut_short, head_too_large, unreadable_top, text_after_end,
  events_not_an_array, too_many_categories, names_full, too_many_rows, end_without_time, count
};

constexpr const char* kLossNames[] = {
    "unreadable item", "nested too deeply", "string too long", "item too large",
    "item is not an object", "item without phase", "time stamp missing or not a number",
    "time stamp out of range", "negative duration", "duration is not a number",
    "duration out of range", "flow without id", "begin without end", "end without begin",
    "text ends inside the trace", "top-level value too large", "unreadable text",
    "text after the end of the trace", "traceEvents is not an array", "too many categories",
    "name table full", "too many rows", "end without time stamp"};
static_assert(sizeof(kLossNames) / sizeof(kLossNames[0]) == static_cast<size_t>(Loss::count));

struct LossCount {
  uint64_t first_offset = 0;
  uint64_t count = 0;
};

struct Tally {
  uint64_t items = 0;
  std::array<uint64_t, 256> phases{};
  std::array<LossCount, static_cast<size_t>(Loss::count)> losses{};

  // Accepted as they are.
  uint64_t bom = 0, root_list = 0, truncated = 0, bytes_skipped = 0, fraction_digits_beyond_ns = 0,
           numbers_as_text = 0, nan_values = 0, duplicate_keys = 0, trailing_commas = 0,
           missing_commas = 0, missing_values = 0, raw_quotes = 0, ids_out_of_range = 0,
           flow_ids_hashed = 0, unmatched_begin = 0, unmatched_end = 0, matched_pairs = 0,
           lenient_items = 0, event_arrays = 0;
  // Counted once for each distinct text.
  uint64_t raw_control_characters = 0, invalid_utf8 = 0, bad_escapes = 0, lone_surrogates = 0;

  void lose(Loss why, uint64_t offset) {
    LossCount& l = losses[static_cast<size_t>(why)];
    if (l.count == 0 || offset < l.first_offset) l.first_offset = offset;
    ++l.count;
  }
  void add(const Oddities& o) {
    duplicate_keys += o.duplicate_keys;
    trailing_commas += o.trailing_commas;
    missing_commas += o.missing_commas;
    missing_values += o.missing_values;
    raw_quotes += o.raw_quotes;
    ids_out_of_range += o.ids_out_of_range;
  }

  template <class Visit>  // visit(name, value) for every plain counter, in a fixed order
  void each(Visit visit) const {
    visit("bom", bom);
    visit("root_list", root_list);
    visit("truncated", truncated);
    visit("bytes_skipped", bytes_skipped);
    visit("fraction_digits_beyond_ns", fraction_digits_beyond_ns);
    visit("numbers_as_text", numbers_as_text);
    visit("nan_values", nan_values);
    visit("duplicate_keys", duplicate_keys);
    visit("trailing_commas", trailing_commas);
    visit("missing_commas", missing_commas);
    visit("missing_values", missing_values);
    visit("raw_quotes", raw_quotes);
    visit("ids_out_of_range", ids_out_of_range);
    visit("flow_ids_hashed", flow_ids_hashed);
    visit("unmatched_begin", unmatched_begin);
    visit("unmatched_end", unmatched_end);
    visit("matched_pairs", matched_pairs);
    visit("lenient_items", lenient_items);
    visit("event_arrays", event_arrays);
    visit("raw_control_characters", raw_control_characters);
    visit("invalid_utf8", invalid_utf8);
    visit("bad_escapes", bad_escapes);
    visit("lone_surrogates", lone_surrogates);
  }
};

}  // namespace laptime::scan
