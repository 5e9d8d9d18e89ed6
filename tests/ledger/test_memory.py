"""Memory of an explanation grows with the items, by no more than columns and what is kept of them.

The peak is that of a process of its own on traces of two sizes; the difference leaves out the
interpreter and whatever else does not grow.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BYTES_AN_ITEM = 76
"""Measured 70 from 50 to 1500 MB of text. The aim is 60: what is above it is the table of regions,
which still takes a whole timeline at once (docs/performance.md)."""
MEASURE = """
import json, sys
from benchmarks.process import ran
from tests.builder.large import generate

command = "import sys; from laptime.cli import main; sys.exit(main())"
if sys.argv[2:]:
    print(json.dumps(generate(sys.argv[1], float(sys.argv[2])).items))
else:
    done = ran([sys.executable, "-c", command, "explain", "--json", sys.argv[1]], keep_out=False)
    assert done.status == 0, done.err
    print(json.dumps(done.peak_bytes))
"""
"""Builds a trace, or measures one. In a process of its own: a child's peak starts from what its
parent had, and this one is large."""
ROOT = Path(__file__).resolve().parents[2]
FIXED_BYTES = 158_000_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read as Linux gives it")
def test_bytes_an_item(tmp_path: Path) -> None:
    peaks, items = [], []
    for mb in (60, 360):
        path = tmp_path / f"{mb}.json.gz"
        items.append(_said(str(path), str(mb)))
        peaks.append(_said(str(path)))
        path.unlink()
    assert peaks[1] - peaks[0] <= BYTES_AN_ITEM * (items[1] - items[0])
    assert peaks[1] <= 60 * items[1] + FIXED_BYTES


def _said(*arguments: str) -> int:
    command = [sys.executable, "-c", MEASURE, *arguments]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    number: int = json.loads(said)
    return number
