// The fast item parser with AVX2 and BMI; compiled with those switches, chosen at run time.
//
// Nothing with external linkage but the entry point may be defined here: the linker could pick
// this file's copy of a shared inline function for machines without AVX2.
#if defined(LAPTIME_HAVE_AVX2)
#include "scan/item_parser.h"

namespace laptime::scan {

Outcome parse_item_avx2(const char* p, const char* end, const Limits& limits, Item* item,
                        const char** next) {
  return ItemParser<false>(end, limits, item).parse(p, next);
}

}  // namespace laptime::scan
#endif
