// Fuzz entry of the scanner. The first two bytes choose limits and the size of chunks; the rest is
// text. Beyond memory errors it checks what must hold for every text: the columns have one length,
// and the rows do not depend on how the text was cut into chunks.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "scan/scanner.h"

using namespace laptime::scan;

namespace {

void require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

std::unique_ptr<Scanner> scan(const uint8_t* text, size_t size, size_t chunk, const Limits& limits) {
  auto s = std::make_unique<Scanner>(limits);
  for (size_t at = 0; at < size; at += chunk) {
    const size_t n = size - at < chunk ? size - at : chunk;
    // A copy of exactly the chunk, so that a read behind it is caught.
    std::vector<char> piece(text + at, text + at + n);
    piece.shrink_to_fit();
    s->feed(piece.data(), piece.size());
  }
  s->finish();
  const size_t rows = s->rows.size();
  require(s->rows.dur.size() == rows && s->rows.name.size() == rows &&
              s->rows.lane.size() == rows && s->rows.category.size() == rows &&
              s->rows.phase.size() == rows,
          "columns of one length");
  for (size_t i = 0; i < rows; ++i) {
    require(static_cast<size_t>(s->rows.name[i]) < s->rows.names.size(), "name in range");
    require(static_cast<size_t>(s->rows.lane[i]) < s->rows.lanes.all().size(), "lane in range");
    require(s->rows.category[i] < s->rows.categories.size(), "category in range");
    require(s->rows.dur[i] >= -1, "no negative duration");
    if (s->rows.has_args)
      require(s->rows.args_offset[i] + s->rows.args_length[i] <= size, "args inside the text");
  }
  return s;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  Limits limits;
  if (data[0] & 1) {
    limits.max_depth = 4;
    limits.max_string_bytes = 64;
    limits.max_head_bytes = 256;
    limits.max_name_table_bytes = 64;
  }
  const size_t chunk = (data[0] >> 1) % 4 == 0 ? 1 : (static_cast<size_t>(data[1]) + 1) * 7;
  data += 2;
  size -= 2;
  const auto a = scan(data, size, chunk, limits);
  const auto b = scan(data, size, size == 0 ? 1 : size, limits);
  require(a->rows.size() == b->rows.size(), "rows independent of chunks");
  require(a->tally.items == b->tally.items, "items independent of chunks");
  require(a->rows.flow_id.size() == b->rows.flow_id.size(), "flows independent of chunks");
  require(a->head.size() == b->head.size(), "head independent of chunks");
  for (size_t i = 0; i < a->tally.losses.size(); ++i)
    require(a->tally.losses[i].count == b->tally.losses[i].count &&
                a->tally.losses[i].first_offset == b->tally.losses[i].first_offset,
            "losses independent of chunks");
  for (size_t i = 0; i < a->rows.size(); ++i)
    require(a->rows.start[i] == b->rows.start[i] && a->rows.dur[i] == b->rows.dur[i] &&
                a->rows.name[i] == b->rows.name[i] && a->rows.phase[i] == b->rows.phase[i],
            "rows equal");
  return 0;
}
