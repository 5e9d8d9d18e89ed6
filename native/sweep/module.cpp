// The part of laptime._native that works on sets of time.
#include "sweep/module.h"

#include <nanobind/ndarray.h>

#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sweep/spans.h"

namespace nb = nanobind;

namespace laptime::sweep {
namespace {

using Times = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Stretches stretches(const Times& start, const Times& end) {
  if (start.shape(0) != end.shape(0)) throw std::invalid_argument("starts and ends differ in number");
  return {start.data(), end.data(), start.shape(0)};
}

template <class T>
nb::object array_of(std::vector<T>&& values) {
  auto* held = new std::vector<T>(std::move(values));
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(held->data(), {held->size()}, owner));
}

nb::tuple set_of(Set&& set) {
  return nb::make_tuple(array_of(std::move(set.start)), array_of(std::move(set.end)));
}

nb::tuple union_(const Times& start, const Times& end) {
  const Stretches in = stretches(start, end);
  Set out;
  {
    nb::gil_scoped_release free;
    out = united(in);
  }
  return set_of(std::move(out));
}

nb::tuple overlaps(const Times& a_start, const Times& a_end, const Times& b_start,
                   const Times& b_end) {
  const Stretches a = stretches(a_start, a_end), b = stretches(b_start, b_end);
  Pieces out;
  {
    nb::gil_scoped_release free;
    out = overlapped(a, b);
  }
  return nb::make_tuple(array_of(std::move(out.of_a)), array_of(std::move(out.of_b)),
                        set_of(std::move(out.time)));
}

nb::tuple nest(const Times& start, const Times& end, const Times& member) {
  const Stretches in = stretches(start, end);
  if (member.shape(0) != in.size) throw std::invalid_argument("members and starts differ in number");
  if (in.size > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    throw std::length_error("more than 2**31 rows of one thread");
  Nest out;
  {
    nb::gil_scoped_release free;
    out = nested(in, member.data());
  }
  return nb::make_tuple(array_of(std::move(out.order)), array_of(std::move(out.around)),
                        set_of(std::move(out.span)), array_of(std::move(out.at)), out.crossing);
}

using Totals = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void add_at(const Totals& total, const Times& at, const Times& ns) {
  if (at.shape(0) != ns.shape(0)) throw std::invalid_argument("places and values differ in number");
  const int64_t size = static_cast<int64_t>(total.shape(0));
  const int64_t* place = at.data();
  const int64_t* value = ns.data();
  for (size_t i = 0; i < at.shape(0); ++i)
    if (place[i] < 0 || place[i] >= size) throw std::out_of_range("a place outside the totals");
  // Unsigned: an overflow wraps as NumPy's does.
  auto* sum = reinterpret_cast<uint64_t*>(total.data());
  for (size_t i = 0; i < at.shape(0); ++i) sum[place[i]] += static_cast<uint64_t>(value[i]);
}

}  // namespace

void bind(nb::module_& m) {
  m.def("union", &union_, nb::arg("starts"), nb::arg("ends"));
  m.def("add_at", &add_at, nb::arg("total").noconvert(), nb::arg("at"), nb::arg("ns"));
  m.def("overlaps", &overlaps, nb::arg("a_starts"), nb::arg("a_ends"), nb::arg("b_starts"),
        nb::arg("b_ends"));
  m.def("nest", &nest, nb::arg("starts"), nb::arg("ends"), nb::arg("members"));
}

}  // namespace laptime::sweep
