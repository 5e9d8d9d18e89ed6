#include "scan/scanner.h"

#include <algorithm>

#include "scan/words.h"

namespace laptime::scan {

Scanner::Scanner(const Limits& limits, bool portable)
    : rows(limits, &tally), limits_(limits), parse_item_(best_parse_item(portable)) {
  item_.layout = &layout_;
}

void Scanner::feed(const char* data, size_t size) {
  fed_ += size;
  size_t used = 0;
  while (used < size) {
    const size_t left = size - used;
    if (carried_ == 0 && left > kPad) {
      buffer_ = data + used;
      const char* end = data + size - kPad;
      base_ = fed_ - left;
      const char* p = consume(buffer_, end, false);
      used += static_cast<size_t>(p - buffer_);
      retry_at_ = 0;
    }
    // What is incomplete goes on in the carry; it is tried again only when it has grown by half,
    // so that an item is read a bounded number of times however the text is cut.
    const size_t rest = size - used;
    if (rest == 0) break;
    const size_t step = std::min(rest, std::max<size_t>(carried_ / 2, 2048));
    if (carry_.size() < carried_ + step + kPad) carry_.resize((carried_ + step + kPad) * 2);
    std::memcpy(carry_.data() + carried_, data + used, step);
    std::memset(carry_.data() + carried_ + step, 0, kPad);
    const size_t old = carried_;
    carried_ += step;
    used += step;
    if (carried_ < retry_at_) continue;
    buffer_ = carry_.data();
    base_ = fed_ - (size - used) - carried_;
    const char* p = consume(buffer_, buffer_ + carried_, false);
    const auto done = static_cast<size_t>(p - buffer_);
    if (done > 0 && done >= old && size - (used - (carried_ - done)) > kPad) {
      used -= carried_ - done;  // go on in the caller's own memory
      carried_ = 0;
      retry_at_ = 0;
      continue;
    }
    carried_ -= done;
    if (done != 0) std::memmove(carry_.data(), carry_.data() + done, carried_ + kPad);
    retry_at_ = carried_ + std::max<size_t>(carried_ / 2, 64);
  }
  if (carry_.size() > (size_t{4} << 20) && carried_ < carry_.size() / 8) {
    carry_.resize(std::max<size_t>(carried_ + kPad, 4096));
    carry_.shrink_to_fit();
  }
}

void Scanner::finish() {
  if (ended_) return;
  ended_ = true;
  if (carry_.size() < carried_ + kPad) carry_.resize(carried_ + kPad);
  std::memset(carry_.data() + carried_, 0, kPad);
  buffer_ = carry_.data();
  base_ = fed_ - carried_;
  consume(buffer_, buffer_ + carried_, true);
  if (state_ == State::lost) {
    tally.lose(lost_why_, lost_from_);
    tally.bytes_skipped += fed_ - lost_from_;
    tally.truncated += lost_why_ == Loss::cut_short;
  } else if (state_ == State::top || state_ == State::items || state_ == State::oversize) {
    tally.lose(Loss::cut_short, fed_);
    ++tally.truncated;
  }
  carry_ = {};
  rows.close();
}

const char* Scanner::consume(const char* p, const char* end, bool last) {
  waiting_ = false;
  while (p < end && !waiting_) {
    const char* before = p;
    switch (state_) {
      case State::begin:
        p = begin(p, end, last);
        break;
      case State::not_json:
        p = end;
        break;
      case State::top:
        p = top(p, end, last);
        break;
      case State::items:
        p = items(p, end, last);
        break;
      case State::lost:
        p = lost(p, end, last);
        break;
      case State::oversize:
        p = oversize(p, end);
        break;
      case State::end:
        p = skip_space(p, end);
        if (p < end) p = lose_from(p, p, Loss::text_after_end);
        break;
    }
    if (p > end) p = end;
    credit_ = std::min<int64_t>(credit_ + 4 * (p - before), int64_t{1} << 24);
  }
  return p;
}

const char* Scanner::begin(const char* p, const char* end, bool last) {
  const bool at_start = offset(p) == 0;
  if (at_start && end - p < 4 && !last) {
    waiting_ = true;
    return p;
  }
  if (at_start && end - p >= 3 && std::memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
    tally.bom = 1;
    return p + 3;
  }
  const char* q = skip_space(p, end);
  const char ahead = q > p ? q[-1] : before_;
  if (q >= end) {
    before_ = end[-1];
    return end;
  }
  if (*q != '{' && *q != '[') {
    state_ = State::not_json;
    return end;
  }
  if (q + 1 >= end && !last) {
    before_ = ahead;
    waiting_ = true;
    return q;
  }
  // A NUL beside the first bracket: UTF-16 or UTF-32, which is another format.
  const bool wide = (q + 1 < end && q[1] == 0) || ahead == 0;
  if (wide) {
    state_ = State::not_json;
    return end;
  }
  root_ = *q == '{' ? Root::object : Root::list;
  if (root_ == Root::list) {
    tally.root_list = 1;
    ++tally.event_arrays;
  }
  state_ = root_ == Root::object ? State::top : State::items;
  return q + 1;
}

const char* Scanner::top(const char* p, const char* end, bool last) {
  p = skip_space(p, end);
  if (p >= end) return end;
  if (*p == ',') return p + 1;
  if (*p == '}') {
    state_ = State::end;
    return p + 1;
  }
  if (*p != '"') return lose_from(p, p + 1, Loss::unreadable_top);
  const char* key = p + 1;
  const char* q = find_quote(key, end);
  while (q < end && *q == '\\') q = find_quote(q + 2, end);
  const char* colon = q < end ? skip_space(q + 1, end) : end;
  const char* value = colon < end ? skip_space(colon + 1, end) : end;
  if (colon < end && *colon != ':') return lose_from(p, p + 1, Loss::unreadable_top);
  if (value >= end) {
    if (static_cast<uint64_t>(end - p) > limits_.max_item_bytes)
      return lose_from(p, p + 1, Loss::unreadable_top);
    if (last) return lose_from(p, end, Loss::cut_short);
    waiting_ = true;
    return p;
  }
  return top_value(key, static_cast<size_t>(q - key), value, p, end, last);
}

const char* Scanner::top_value(const char* key, size_t key_size, const char* value, const char* p,
                               const char* end, bool last) {
  bool events = key_size == 11 && std::memcmp(key, "traceEvents", 11) == 0;
  if (std::memchr(key, '\\', key_size) != nullptr) {
    char plain[16];
    events = plain_key(key, key_size, plain, sizeof plain) == 11 &&
             std::memcmp(plain, "traceEvents", 11) == 0;
  }
  if (events && *value == '[') {
    state_ = State::items;
    after_comma_ = after_item_ = false;
    ++tally.event_arrays;
    return value + 1;
  }
  Limits limits = limits_;
  limits.max_string_bytes = std::max(limits.max_string_bytes, limits_.max_head_bytes);
  Value v;
  const char* next = value;
  Fault fault = Fault::unreadable;
  const Outcome outcome = skip_any_value(value, end, limits, &v, &next, &fault);
  const auto size = static_cast<uint64_t>((outcome == Outcome::more ? end : next) - value);
  if (size > limits_.max_head_bytes ||
      (outcome == Outcome::broken && fault == Fault::string_too_long)) {
    tally.lose(Loss::head_too_large, offset(value));
    state_ = State::oversize;  // also when it is whole: resumes at one place however it was cut
    depth_ = 0;
    in_string_ = escape_ = false;
    return value;
  }
  if (outcome == Outcome::more) {
    if (last) return lose_from(p, end, Loss::cut_short);
    waiting_ = true;
    return p;
  }
  if (outcome == Outcome::broken) {
    credit_ -= next - p;
    return lose_from(p, credit_ < 0 ? next : p + 1,
                     fault == Fault::too_deep ? Loss::too_deep : Loss::unreadable_top);
  }
  if (events) tally.lose(Loss::events_not_an_array, offset(value));
  HeadValue kept;
  unescape(key, key_size, &kept.key, &tally);
  kept.raw.assign(value, static_cast<size_t>(next - value));
  kept.offset = offset(value);
  head.push_back(std::move(kept));
  return next;
}

const char* Scanner::oversize(const char* p, const char* end) {
  for (; p < end; ++p) {
    const char c = *p;
    if (in_string_) {
      if (escape_)
        escape_ = false;
      else if (c == '\\')
        escape_ = true;
      else if (c == '"')
        in_string_ = false;
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']' || c == ',') {
      if (depth_ == 0) {
        state_ = State::top;
        return p;
      }
      depth_ -= c != ',';
    }
  }
  return p;
}

const char* Scanner::items(const char* p, const char* end, bool last) {
  for (;;) {
    p = skip_space(p, end);
    if (p >= end) return end;
    switch (*p) {
      case '{': {
        tally.missing_commas += after_item_;
        p = item(p, end, last);
        if (waiting_ || state_ != State::items) return p;
        break;
      }
      case ',':
        after_comma_ = true;
        after_item_ = false;
        ++p;
        break;
      case ']':
        tally.trailing_commas += after_comma_;
        after_comma_ = after_item_ = false;
        state_ = root_ == Root::list ? State::end : State::top;
        return p + 1;
      case '}':
      case ':':
        return lose_from(p, p + 1, Loss::unreadable_item);
      default:
        p = plain_item(p, end, last);
        if (waiting_ || state_ != State::items) return p;
    }
  }
}

Outcome Scanner::parse(const char* p, const char* end, const char** next) {
  Outcome outcome = parse_item_(p, end, limits_, &item_, next);
  if (outcome == Outcome::broken && item_.fault == Fault::unreadable) {
    const char* stop = item_.stop;
    outcome = parse_item_lenient(p, end, limits_, &item_, next);
    if (outcome == Outcome::whole) ++tally.lenient_items;
    if (outcome == Outcome::broken) {
      item_.stop = std::max(stop, item_.stop);
      credit_ -= 2 * (item_.stop - p);
    }
  }
  return outcome;
}

const char* Scanner::item(const char* p, const char* end, bool last) {
  const char* next = p;
  const Outcome outcome = parse(p, end, &next);
  const auto size = static_cast<uint64_t>((outcome == Outcome::whole ? next : end) - p);
  if (outcome != Outcome::broken && size > limits_.max_item_bytes) {
    ++tally.items;
    if (outcome == Outcome::more) return lose_from(p, end, Loss::item_too_large);
    tally.lose(Loss::item_too_large, offset(p));
    tally.bytes_skipped += size;
  } else if (outcome == Outcome::more) {
    // At the end of the text this item is cut, or its damage made it swallow the ones behind it.
    if (last) return lose_from(p, p + 1, Loss::cut_short);
    waiting_ = true;
    return p;
  } else if (outcome == Outcome::broken) {
    ++tally.items;
    const bool inside = item_.fault == Fault::unreadable && credit_ > 0;
    return lose_from(p, inside ? p + 1 : item_.stop,
                     item_.fault == Fault::too_deep          ? Loss::too_deep
                     : item_.fault == Fault::string_too_long ? Loss::string_too_long
                                                             : Loss::unreadable_item);
  } else {
    ++tally.items;
    rows.take(item_, offset(p), buffer_, base_);
  }
  after_item_ = true;
  after_comma_ = false;
  return next;
}

const char* Scanner::plain_item(const char* p, const char* end, bool last) {
  Value v;
  const char* next = p;
  Fault fault = Fault::unreadable;
  const Outcome outcome = skip_any_value(p, end, limits_, &v, &next, &fault);
  if (outcome == Outcome::more && static_cast<uint64_t>(end - p) <= limits_.max_item_bytes) {
    if (last) return lose_from(p, p + 1, Loss::cut_short);
    waiting_ = true;
    return p;
  }
  ++tally.items;
  if (outcome != Outcome::whole) {
    credit_ -= std::max<int64_t>(0, next - p);
    return lose_from(p, p + 1, Loss::unreadable_item);
  }
  tally.lose(Loss::not_an_object, offset(p));
  after_item_ = true;
  after_comma_ = false;
  return next;
}

}  // namespace laptime::scan
