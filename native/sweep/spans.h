// Sets of time: stretches [start, end) in ascending order, and what is innermost in nested ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace laptime::sweep {

struct Stretches {
  const int64_t* start;
  const int64_t* end;
  size_t size;
};

struct Set {
  std::vector<int64_t> start, end;
};

struct Pieces {
  Set time;
  std::vector<int64_t> of_a, of_b;
};

struct Nest {
  std::vector<int64_t> order;
  std::vector<int32_t> around, at;
  Set span;
  bool crossing = false;
};

// The time in any of the stretches: in any order, overlapping, empty ones too.
inline Set united(Stretches in) {
  Set out;
  const auto add = [&out](int64_t start, int64_t end) {
    if (end <= start) return;
    if (!out.end.empty() && start <= out.end.back()) {
      out.end.back() = std::max(out.end.back(), end);
    } else {
      out.start.push_back(start);
      out.end.push_back(end);
    }
  };
  if (std::is_sorted(in.start, in.start + in.size)) {
    for (size_t i = 0; i < in.size; ++i) add(in.start[i], in.end[i]);
    return out;
  }
  std::vector<std::pair<int64_t, int64_t>> both(in.size);
  for (size_t i = 0; i < in.size; ++i) both[i] = {in.start[i], in.end[i]};
  std::sort(both.begin(), both.end());
  for (const auto& [start, end] : both) add(start, end);
  return out;
}

// Each pair of stretches that overlap, in order of time. Both sets ascend and are disjoint.
inline Pieces overlapped(Stretches a, Stretches b) {
  Pieces out;
  if (a.size == 0 || b.size == 0) return out;
  // Of a set much longer than the other, most stretches are passed over by halving.
  const bool skip_a = a.size / 16 > b.size, skip_b = b.size / 16 > a.size;
  size_t i = 0, j = 0;
  while (i < a.size && j < b.size) {
    if (a.end[i] <= b.start[j]) {
      i = skip_a ? static_cast<size_t>(
                       std::upper_bound(a.end + i, a.end + a.size, b.start[j]) - a.end)
                 : i + 1;
      continue;
    }
    if (b.end[j] <= a.start[i]) {
      j = skip_b ? static_cast<size_t>(
                       std::upper_bound(b.end + j, b.end + b.size, a.start[i]) - b.end)
                 : j + 1;
      continue;
    }
    out.of_a.push_back(static_cast<int64_t>(i));
    out.of_b.push_back(static_cast<int64_t>(j));
    out.time.start.push_back(std::max(a.start[i], b.start[j]));
    out.time.end.push_back(std::min(a.end[i], b.end[j]));
    if (a.end[i] <= b.end[j])
      ++i;
    else
      ++j;
  }
  return out;
}

// Rows of one thread nested: see Nest of ledger/innermost.py. Each lasts longer than nothing.
inline Nest nested(Stretches in, const int64_t* member) {
  struct Row {
    int64_t start, end, member, place;
  };
  std::vector<Row> rows(in.size);
  for (size_t i = 0; i < in.size; ++i)
    rows[i] = {in.start[i], in.end[i], member[i], static_cast<int64_t>(i)};
  const auto before = [](const Row& x, const Row& y) {
    if (x.start != y.start) return x.start < y.start;
    if (x.end != y.end) return x.end > y.end;
    return x.member < y.member;
  };
  if (!std::is_sorted(rows.begin(), rows.end(), before))
    std::sort(rows.begin(), rows.end(), before);

  Nest out;
  out.order.reserve(in.size);
  out.around.reserve(in.size);
  std::vector<std::pair<int64_t, int32_t>> open;
  int64_t at = 0;
  const auto reach = [&](int64_t until) {
    if (!open.empty() && until > at) {
      out.span.start.push_back(at);
      out.span.end.push_back(until);
      out.at.push_back(open.back().second);
    }
    at = std::max(at, until);
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    while (!open.empty() && open.back().first <= row.start) {
      reach(open.back().first);
      open.pop_back();
    }
    if (open.empty())
      at = row.start;
    else
      reach(row.start);
    int64_t end = row.end;
    if (!open.empty() && end > open.back().first) {
      end = open.back().first;
      out.crossing = true;
    }
    out.order.push_back(row.place);
    out.around.push_back(open.empty() ? -1 : open.back().second);
    open.emplace_back(end, static_cast<int32_t>(i));
  }
  while (!open.empty()) {
    reach(open.back().first);
    open.pop_back();
  }
  return out;
}

}  // namespace laptime::sweep
