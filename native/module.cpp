// Python module laptime._native: the scanner and its columns; sweep/module.cpp adds its own.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include "scan/scanner.h"
#include "sweep/module.h"

namespace nb = nanobind;
using namespace laptime::scan;

namespace {

struct ScanResult {
  uint64_t items = 0, text_bytes = 0;
  std::string root;
  nb::object start_ns, dur_ns, name, category, lane, phase, args_offset, args_length, correlation,
      external_id, python_id, python_parent, names, categories, lanes, int_args, text_args, texts,
      flow_id, flow_ns, flow_lane, flow_phase, flow_category, meta, head, losses, counters;
};

nb::object decoded(const char* p, size_t n) {
  PyObject* s = PyUnicode_DecodeUTF8(p, static_cast<Py_ssize_t>(n), "replace");
  if (s == nullptr) throw nb::python_error();
  return nb::steal(s);
}

template <class T>
nb::object array_of(Memory memory, size_t n) {
  const size_t page = 4096;
  const size_t bytes = n == 0 ? page : (n * sizeof(T) + page - 1) / page * page;
  if (memory.bytes != bytes) memory = Memory::resized(memory, bytes);
  auto* held = new Memory(memory);
  nb::capsule owner(held, [](void* m) noexcept {
    Memory::release(*static_cast<Memory*>(m));
    delete static_cast<Memory*>(m);
  });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(memory.at, {n}, owner));
}

template <class T>
nb::object array_of(Column<T>* c) {
  const size_t n = c->size();
  return array_of<T>(c->take(), n);
}

nb::object array_of(IdColumn* c, size_t n) {
  if (!c->present()) return nb::none();
  return c->wide() ? array_of<uint64_t>(c->take(), n) : array_of<uint32_t>(c->take(), n);
}

nb::object list_of(const StringTable& t) {
  nb::list out;
  for (size_t i = 0; i < t.size(); ++i) out.append(decoded(t[i].at, t[i].size));
  return out;
}

nb::object token(const Token& t, const nb::list& words) {
  switch (t.what) {
    case Token::integer:
      return nb::int_(t.value);
    case Token::text:
      return words[static_cast<size_t>(t.value)];
    case Token::odd_number: {
      nb::object text = words[static_cast<size_t>(t.value)];
      const std::string s = nb::cast<std::string>(text);
      const bool whole = s.size() < 64 && s.find_first_not_of("-0123456789") == std::string::npos &&
                         s.rfind('-') + 1 <= 1 && s != "-";
      return whole ? nb::steal(PyLong_FromString(s.c_str(), nullptr, 10)) : text;
    }
    default:
      return nb::none();
  }
}

nb::object ordinal(int64_t v) { return v == kNoOrdinal ? nb::object(nb::none()) : nb::int_(v); }

std::unique_ptr<ScanResult> result_of(Scanner* s) {
  auto r = std::make_unique<ScanResult>();
  Rows& rows = s->rows;
  const Tally& tally = s->tally;
  const size_t n = rows.size();
  r->items = tally.items;
  r->text_bytes = s->text_bytes();
  r->root = s->root() == Root::object ? "object" : s->root() == Root::list ? "list" : "none";
  r->start_ns = array_of(&rows.start);
  r->dur_ns = array_of(&rows.dur);
  r->name = array_of(&rows.name);
  r->category = array_of(&rows.category);
  r->lane = array_of(&rows.lane);
  r->phase = array_of(&rows.phase);
  r->args_offset = rows.has_args ? array_of(&rows.args_offset) : nb::object(nb::none());
  r->args_length = rows.has_args ? array_of(&rows.args_length) : nb::object(nb::none());
  r->correlation = array_of(&rows.ids[kCorrelation], n);
  r->external_id = array_of(&rows.ids[kExternalId], n);
  r->python_id = array_of(&rows.ids[kPythonId], n);
  r->python_parent = array_of(&rows.ids[kPythonParent], n);
  r->flow_id = array_of(&rows.flow_id);
  r->flow_ns = array_of(&rows.flow_ns);
  r->flow_lane = array_of(&rows.flow_lane);
  r->flow_phase = array_of(&rows.flow_phase);
  r->flow_category = array_of(&rows.flow_category);
  r->names = list_of(rows.names);
  rows.names.clear();
  r->categories = list_of(rows.categories);
  r->texts = list_of(rows.texts);
  rows.texts.clear();

  const nb::list words(list_of(rows.words));
  rows.words.clear();
  nb::list lanes;
  for (const Lane& l : rows.lanes.all())
    lanes.append(nb::make_tuple(token(l.pid, words), token(l.tid, words), ordinal(l.device),
                                ordinal(l.stream)));
  r->lanes = lanes;
  nb::list meta;
  for (const Meta& m : rows.meta)
    meta.append(nb::make_tuple(words[static_cast<size_t>(m.name)], token(m.pid, words),
                               token(m.tid, words), words[static_cast<size_t>(m.value)]));
  r->meta = meta;

  nb::dict ints;
  for (int i = 0; i < kIntArgs; ++i)
    if (rows.ints[i].row.size() != 0) {
      nb::object row = array_of(&rows.ints[i].row);
      ints[kIntArgNames[i]] = nb::make_tuple(row, array_of(&rows.ints[i].value));
    }
  r->int_args = ints;
  nb::dict texts;
  for (int i = 0; i < kTextArgs; ++i)
    if (rows.text_args[i].row.size() != 0) {
      nb::object row = array_of(&rows.text_args[i].row);
      texts[kTextArgNames[i]] = nb::make_tuple(row, array_of(&rows.text_args[i].value));
    }
  r->text_args = texts;

  nb::list head;
  for (const HeadValue& h : s->head)
    head.append(nb::make_tuple(decoded(h.key.data(), h.key.size()),
                               nb::bytes(h.raw.data(), h.raw.size()), h.offset));
  r->head = head;

  nb::list losses;
  for (size_t i = 0; i < tally.losses.size(); ++i)
    if (tally.losses[i].count != 0)
      losses.append(
          nb::make_tuple(tally.losses[i].first_offset, kLossNames[i], tally.losses[i].count));
  r->losses = losses;

  nb::dict counters;
  tally.each([&](const char* name, uint64_t v) { counters[name] = v; });
  for (size_t p = 0; p < tally.phases.size(); ++p)
    if (tally.phases[p] != 0) {
      const char latin1 = static_cast<char>(p);
      nb::object ph = nb::steal(PyUnicode_DecodeLatin1(&latin1, 1, nullptr));
      counters[nb::str("events_by_phase:") + ph] = tally.phases[p];
    }
  r->counters = counters;
  return r;
}

// One scan. Calls from two threads at once are refused, not raced.
class PyScanner {
 public:
  PyScanner(uint32_t max_depth, uint64_t max_string_bytes, uint64_t max_head_bytes,
            uint64_t max_name_table_bytes, uint64_t max_item_bytes, bool portable) {
    Limits limits;
    limits.max_depth = max_depth;
    limits.max_string_bytes = max_string_bytes;
    limits.max_head_bytes = max_head_bytes;
    limits.max_name_table_bytes = max_name_table_bytes;
    limits.max_item_bytes = max_item_bytes;
    scanner_ = std::make_unique<Scanner>(limits, portable);
  }

  void feed(nb::handle data) {
    Turn turn(this);
    Py_buffer view;
    if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
    struct Release {
      Py_buffer* v;
      ~Release() { PyBuffer_Release(v); }
    } release{&view};
    working_ = true;
    {
      nb::gil_scoped_release unlocked;
      scanner_->feed(static_cast<const char*>(view.buf), static_cast<size_t>(view.len));
    }
    working_ = false;
  }

  std::unique_ptr<ScanResult> finish() {
    Turn turn(this);
    working_ = true;
    {
      nb::gil_scoped_release unlocked;
      scanner_->finish();
    }
    auto result = result_of(scanner_.get());
    scanner_.reset();
    working_ = false;
    return result;
  }

 private:
  struct Turn {
    explicit Turn(PyScanner* s) : scanner(s) {
      if (s->busy_.exchange(true)) throw std::runtime_error("the scanner is in use by another thread");
      if (s->scanner_ == nullptr || s->working_) {
        s->busy_ = false;
        throw std::runtime_error(s->working_ ? "the scanner failed before and cannot go on"
                                             : "the scan is finished");
      }
    }
    ~Turn() { scanner->busy_ = false; }
    PyScanner* scanner;
  };

  std::unique_ptr<Scanner> scanner_;
  std::atomic<bool> busy_{false};
  bool working_ = false;  // stays set when a call threw half-way
};

}  // namespace

NB_MODULE(_native, m) {
  laptime::sweep::bind(m);
  m.doc() = "The native core of laptime: trace text to integer columns.";
  nb::class_<ScanResult>(m, "ScanResult")
      .def_ro("items", &ScanResult::items)
      .def_ro("text_bytes", &ScanResult::text_bytes)
      .def_ro("root", &ScanResult::root)
      .def_ro("start_ns", &ScanResult::start_ns)
      .def_ro("dur_ns", &ScanResult::dur_ns)
      .def_ro("name", &ScanResult::name)
      .def_ro("category", &ScanResult::category)
      .def_ro("lane", &ScanResult::lane)
      .def_ro("phase", &ScanResult::phase)
      .def_ro("args_offset", &ScanResult::args_offset)
      .def_ro("args_length", &ScanResult::args_length)
      .def_ro("correlation", &ScanResult::correlation)
      .def_ro("external_id", &ScanResult::external_id)
      .def_ro("python_id", &ScanResult::python_id)
      .def_ro("python_parent", &ScanResult::python_parent)
      .def_ro("names", &ScanResult::names)
      .def_ro("categories", &ScanResult::categories)
      .def_ro("lanes", &ScanResult::lanes)
      .def_ro("int_args", &ScanResult::int_args)
      .def_ro("text_args", &ScanResult::text_args)
      .def_ro("texts", &ScanResult::texts)
      .def_ro("flow_id", &ScanResult::flow_id)
      .def_ro("flow_ns", &ScanResult::flow_ns)
      .def_ro("flow_lane", &ScanResult::flow_lane)
      .def_ro("flow_phase", &ScanResult::flow_phase)
      .def_ro("flow_category", &ScanResult::flow_category)
      .def_ro("meta", &ScanResult::meta)
      .def_ro("head", &ScanResult::head)
      .def_ro("losses", &ScanResult::losses)
      .def_ro("counters", &ScanResult::counters);
  nb::class_<PyScanner>(m, "Scanner")
      .def(nb::init<uint32_t, uint64_t, uint64_t, uint64_t, uint64_t, bool>(), nb::kw_only(),
           nb::arg("max_depth") = 512, nb::arg("max_string_bytes") = uint64_t{16} << 20,
           nb::arg("max_head_bytes") = uint64_t{64} << 20,
           nb::arg("max_name_table_bytes") = uint64_t{1} << 30,
           nb::arg("max_item_bytes") = uint64_t{64} << 20, nb::arg("portable") = false)
      .def("feed", &PyScanner::feed, nb::arg("data"))
      .def("finish", &PyScanner::finish);
}
