// The second attempt at an item the fast parser refused, and values beside the array of events.
#include "scan/item_parser.h"

namespace laptime::scan {

Outcome parse_item_lenient(const char* p, const char* end, const Limits& limits, Item* item,
                           const char** next) {
  return ItemParser<true>(end, limits, item).parse(p, next);
}

Outcome skip_any_value(const char* p, const char* end, const Limits& limits, Value* value,
                       const char** next, Fault* fault) {
  Item item;
  item.clear();
  ValueParser<false> parser(end, limits, &item);
  const char* e = parser.value(p, value);
  if (e == nullptr) {
    *next = item.stop;
    *fault = item.fault;
    return parser.outcome();
  }
  *next = e;
  return Outcome::whole;
}

}  // namespace laptime::scan
