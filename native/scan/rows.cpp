#include "scan/rows.h"

#include "scan/words.h"

namespace laptime::scan {

namespace {

uint64_t fnv1a(const char* p, size_t n) {  // the same in every process: flows join across files
  uint64_t h = 0xCBF29CE484222325ull;
  for (size_t i = 0; i < n; ++i) h = (h ^ static_cast<unsigned char>(p[i])) * 0x100000001B3ull;
  return h;
}

}  // namespace

void Rows::take(const Item& item, uint64_t offset, const char* base, uint64_t origin) {
  if (item.phase.kind != Kind::text || item.phase.size == 0) {
    tally_.lose(Loss::no_phase, offset);
    return;
  }
  const auto ph = static_cast<uint8_t>(item.phase.at[0]);
  ++tally_.phases[ph];
  tally_.add(item.odd);
  tally_.numbers_as_text += item.start.text + item.dur.text;
  tally_.fraction_digits_beyond_ns += item.start.rounded + item.dur.rounded;
  tally_.nan_values +=
      (item.start.state == TimeState::nan) + (item.dur.state == TimeState::nan);
  switch (ph) {
    case 'X': {
      bool keep = true;
      if (!usable_start(item, offset)) return;
      const int64_t ns = duration(item, offset, &keep);
      if (keep) add_row(item, ph, ns, offset, base, origin);
      return;
    }
    case 'M':
      return add_meta(item, offset);
    case 's':
    case 't':
    case 'f':
      if (usable_start(item, offset)) add_flow(item, ph, offset);
      return;
    case 'E':
      return end(item, offset);
    default:
      if (usable_start(item, offset)) add_row(item, ph, -1, offset, base, origin);
  }
}

bool Rows::usable_start(const Item& item, uint64_t offset) {
  if (item.start.state == TimeState::good) return true;
  tally_.lose(item.start.state == TimeState::out_of_range ? Loss::start_out_of_range
                                                          : Loss::no_start,
              offset);
  return false;
}

int64_t Rows::duration(const Item& item, uint64_t offset, bool* keep) {
  switch (item.dur.state) {
    case TimeState::good:
      if (item.dur.ns >= 0) return item.dur.ns;
      tally_.lose(Loss::negative_dur, offset);
      return -1;
    case TimeState::absent:
      return -1;
    case TimeState::out_of_range:
      tally_.lose(Loss::dur_out_of_range, offset);
      *keep = false;
      return -1;
    default:
      tally_.lose(Loss::dur_not_a_number, offset);
      return -1;
  }
}

int32_t Rows::put_in_checked(StringTable* table, const char* p, size_t n) {
  bool is_new = false;
  const int32_t i = table->intern(p, n, &is_new);
  if (is_new) {
    tally_.invalid_utf8 += !valid_utf8(p, n);
    tally_.raw_control_characters += has_control(p, n);
  }
  return i;
}

int32_t Rows::put_in(StringTable* table, const Value& v, uint64_t offset) {
  int32_t i;
  if (v.kind == Kind::text && v.escaped) {
    Tally fresh;  // escapes are counted once for each distinct text
    unescape(v.at, v.size, &scratch_, &fresh);
    bool is_new = false;
    i = table->intern(scratch_.data(), scratch_.size(), &is_new);
    if (is_new) {
      tally_.bad_escapes += fresh.bad_escapes;
      tally_.lone_surrogates += fresh.lone_surrogates;
      tally_.invalid_utf8 += !valid_utf8(scratch_.data(), scratch_.size());
      tally_.raw_control_characters += has_control(v.at, v.size);
    }
  } else {
    i = put_in_checked(table, v.kind == Kind::absent ? "" : v.at, v.kind == Kind::absent ? 0 : v.size);
  }
  if (i != StringTable::kFull) return i;
  tally_.lose(table == &categories ? Loss::too_many_categories : Loss::names_full, offset);
  return table->intern("", 0);  // always has room
}

int32_t Rows::word(const Value& v, uint64_t offset) { return put_in(&words, v, offset); }

uint16_t Rows::category_of(const Item& item, uint64_t offset) {
  return static_cast<uint16_t>(put_in(&categories, item.category, offset));
}

Token Rows::token(const Value& v) {
  Token t;
  if (v.kind == Kind::absent) return t;
  if (v.kind == Kind::digits) {
    t.what = Token::integer;
    t.value = static_cast<int64_t>(v.size);
    return t;
  }
  if (v.kind == Kind::number) {
    const Integer i = read_integer(v.at, v.size);
    if (i.ok && i.magnitude <= static_cast<uint64_t>(INT64_MAX)) {
      t.what = Token::integer;
      t.value = i.negative ? -static_cast<int64_t>(i.magnitude) : static_cast<int64_t>(i.magnitude);
      return t;
    }
  }
  t.what = v.kind == Kind::number ? Token::odd_number : Token::text;
  t.value = word(v, 0);
  return t;
}

int32_t Rows::lane_of(const Item& item, const Token& pid, const Token& tid) {
  return lanes.of({pid, tid, item.device, item.stream});
}

void Rows::add_row(const Item& item, uint8_t ph, int64_t dur_ns, uint64_t offset, const char* base,
                   uint64_t origin) {
  const size_t row = start.size();
  if (row >= UINT32_MAX - 1) {
    tally_.lose(Loss::too_many_rows, offset);
    return;
  }
  const Token pid = token(item.pid), tid = token(item.tid);
  if (row == start.capacity()) {
    start.reserve(row + 1);
    const size_t room = start.capacity();
    dur.reserve(room);
    name.reserve(room);
    lane.reserve(room);
    category.reserve(room);
    phase.reserve(room);
    if (has_args) {
      args_offset.reserve(room);
      args_length.reserve(room);
    }
  }
  start.data()[row] = item.start.ns;
  dur.data()[row] = dur_ns;
  name.data()[row] = put_in(&names, item.name, offset);
  lane.data()[row] = lane_of(item, pid, tid);
  category.data()[row] = category_of(item, offset);
  phase.data()[row] = ph;
  if (item.args_at != nullptr && !has_args) {
    has_args = true;
    args_offset.reserve(start.capacity());
    args_length.reserve(start.capacity());
    std::memset(args_offset.data(), 0, row * sizeof(uint64_t));
    std::memset(args_length.data(), 0, row * sizeof(uint32_t));
  }
  if (has_args) {
    args_offset.data()[row] =
        item.args_at == nullptr ? 0 : origin + static_cast<uint64_t>(item.args_at - base);
    args_length.data()[row] = static_cast<uint32_t>(item.args_size);
    args_offset.set_size(row + 1);
    args_length.set_size(row + 1);
  }
  start.set_size(row + 1);
  dur.set_size(row + 1);
  name.set_size(row + 1);
  lane.set_size(row + 1);
  category.set_size(row + 1);
  phase.set_size(row + 1);
  for (int i = 0; i < 4; ++i) ids[i].put(row, item.ids[i]);
  const auto row32 = static_cast<uint32_t>(row);
  for (uint64_t m = item.int_seen; m != 0; m &= m - 1) {
    SparseInts& s = ints[low_bit(m)];
    s.row.push(row32);
    s.value.push(item.ints[low_bit(m)]);
  }
  for (uint64_t m = item.text_seen; m != 0; m &= m - 1) {
    SparseTexts& s = text_args[low_bit(m)];
    s.row.push(row32);
    s.value.push(put_in(&texts, item.texts[low_bit(m)], offset));
  }
  if (ph == 'B') {
    Nest& nest = nests_[{pid, tid}];
    nest.open.push_back({row32, offset});
    if (item.start.ns > nest.last_ns) nest.last_ns = item.start.ns;
  } else if (!nests_.empty()) {
    const auto it = nests_.find({pid, tid});
    if (it != nests_.end()) {
      const int64_t seen = item.start.ns + (dur_ns > 0 ? dur_ns : 0);
      if (seen > it->second.last_ns) it->second.last_ns = seen;
    }
  }
}

void Rows::add_flow(const Item& item, uint8_t ph, uint64_t offset) {
  uint64_t id;
  const Value& v = item.id;
  const Integer i = v.kind == Kind::digits   ? Integer{v.size, false, true}
                    : v.kind == Kind::number ? read_integer(v.at, v.size)
                                             : Integer{0, false, false};
  if (i.ok) {
    id = i.negative ? 0 - i.magnitude : i.magnitude;
  } else if (v.kind == Kind::absent) {
    tally_.lose(Loss::flow_without_id, offset);
    return;
  } else {
    if (v.kind == Kind::text && v.escaped) {
      unescape(v.at, v.size, &scratch_, &tally_);
      id = fnv1a(scratch_.data(), scratch_.size());
    } else {
      id = fnv1a(v.at, v.size);
    }
    ++tally_.flow_ids_hashed;
  }
  flow_id.push(id);
  flow_ns.push(item.start.ns);
  flow_lane.push(lane_of(item, token(item.pid), token(item.tid)));
  flow_phase.push(ph);
  flow_category.push(category_of(item, offset));
}

void Rows::add_meta(const Item& item, uint64_t offset) {
  Meta m;
  m.name = word(item.name, offset);
  m.value = word(item.meta, offset);
  const Token pid = token(item.pid), tid = token(item.tid);
  const int64_t key[] = {m.name, m.value, pid.value, pid.what, tid.value, tid.what};
  m.pid = pid;
  m.tid = tid;
  bool is_new = false;
  if (meta_seen_.intern(reinterpret_cast<const char*>(key), sizeof key, &is_new) < 0) return;
  if (is_new) meta.push_back(m);
}

void Rows::close_unmatched(const Open& open, int64_t at_ns) {
  ++tally_.unmatched_begin;
  tally_.lose(Loss::unmatched_begin, open.offset);
  if (at_ns >= start[open.row]) dur[open.row] = at_ns - start[open.row];
}

void Rows::end(const Item& item, uint64_t offset) {
  if (item.start.state != TimeState::good) {
    tally_.lose(Loss::end_without_time, offset);
    return;
  }
  const auto it = nests_.find({token(item.pid), token(item.tid)});
  size_t match = 0;
  if (it != nests_.end()) {
    match = it->second.open.size();
    if (item.name.kind != Kind::absent && match != 0) {
      // An end that names its begin closes that one; those opened since were left open.
      const int32_t wanted = put_in(&names, item.name, offset);
      while (match != 0 && name[it->second.open[match - 1].row] != wanted) --match;
    }
  }
  if (match == 0) {
    ++tally_.unmatched_end;
    tally_.lose(Loss::unmatched_end, offset);
    return;
  }
  Nest& nest = it->second;
  while (nest.open.size() > match) {
    close_unmatched(nest.open.back(), item.start.ns);
    nest.open.pop_back();
  }
  const Open open = nest.open.back();
  nest.open.pop_back();
  if (item.start.ns > nest.last_ns) nest.last_ns = item.start.ns;
  ++tally_.matched_pairs;
  phase[open.row] = 'X';
  if (item.start.ns >= start[open.row]) {
    dur[open.row] = item.start.ns - start[open.row];
  } else {
    tally_.lose(Loss::negative_dur, open.offset);
  }
}

void Rows::close() {
  for (auto& [thread, nest] : nests_) {
    while (!nest.open.empty()) {
      close_unmatched(nest.open.back(), nest.last_ns);
      nest.open.pop_back();
    }
  }
  nests_.clear();
  meta_seen_.clear();
}

}  // namespace laptime::scan
