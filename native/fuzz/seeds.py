"""Writes the seed texts of the scanner's fuzzer into a folder: one small text for each form.

Each begins with the two bytes by which the fuzz entry chooses limits and chunk size.
"""

import sys
from pathlib import Path

KINETO = """{
  "schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "GPU"}],
  "traceEvents": [
  {
    "ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 12, "tid": 34,
    "ts": 4203669604595.407, "dur": 340.024,
    "args": {
      "External id": 513,"Record function id": 35, "Input Dims": [[1, 2], []], "Ev Idx": 0
    }
  },
  {
    "ph": "X", "cat": "kernel", "name": "void gemm<float>(int)", "pid": 0, "tid": 7,
    "ts": 4203669604600.1, "dur": 3,
    "args": {
      "device": 0, "stream": 7, "correlation": 77, "grid": [1, 1, 1], "graph id": 0
    }
  },
  {
    "ph": "s", "id": 1, "pid": 12, "tid": 34, "ts": 4203669604595.407, "cat": "ac2g", "name": "a"
  },
  {
    "name": "process_name", "ph": "M", "ts": 0, "pid": 12, "tid": 0, "args": {"name": "python"}
  },
  {
    "ph": "X", "cat": "python_function", "name": "t.py(1): f", "pid": 12, "tid": 34,
    "ts": 4203669604595.407, "dur": 340.024,
    "args": {"Python parent id": 5, "Python id": 6, "Ev Idx": 7}
  },
  {
    "name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 1623142624633484
  }
  ],
  "traceName": "/tmp/trace.json"
}
"""
SEEDS = {
    "kineto": KINETO,
    "list": '[{"ph":"B","ts":1,"pid":1,"tid":1,"name":"a"},{"ph":"E","ts":"2.5","pid":1,"tid":1}]',
    "odd": '{"traceEvents": [{"ph":"X","ts":1e3,"dur":NaN,"name":"a\\u00e9\\q","args":{"bytes":"1",'
    '"Collective name":"x","Addr":18446744073709551615,},},{"ph":"X","name":"foo "bar" baz",'
    '"ts":2,"dur":-3},{"ph":"f","id":"x","ts":3}, 7, [1], "s",]}',
    "damaged": '{"traceEvents": [{"ph":"X","ts":1,"name":"cut\n{"ph":"X","ts":2,"dur":1},\n'
    '{"ph":"X","args":{"a":[1,{}},"ts":3},{"ph":"X","ts":4}], "traceName": "x"}',
    "html": "<html><body>502</body></html>",
    "bom": '\ufeff{"traceEvents":[]}',
}

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for limits in (0, 1, 2, 3):
    for name, text in SEEDS.items():
        (folder / f"{name}-{limits}").write_bytes(bytes([limits, 3]) + text.encode())
