// The fast item parser for the instruction set every machine of this kind has.
#include "scan/item_parser.h"

namespace laptime::scan {

Outcome parse_item_base(const char* p, const char* end, const Limits& limits, Item* item,
                        const char** next) {
  return ItemParser<false>(end, limits, item).parse(p, next);
}

ParseItem best_parse_item([[maybe_unused]] bool portable) {
#if defined(LAPTIME_HAVE_AVX2) && (defined(__GNUC__) || defined(__clang__))
  __builtin_cpu_init();
  if (!portable && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
    return parse_item_avx2;
#endif
  return parse_item_base;
}

}  // namespace laptime::scan
