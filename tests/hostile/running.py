"""The real command line on one input, and what must hold of any answer to any input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema

import laptime

SPACE_BYTES = 6 << 30
"""Address space: some libraries reserve much and touch little; the peak is what is asserted."""

PEAK_BYTES = 1_000_000_000
WALL_S = 60
ENTRY = "import sys; from laptime.cli import main; sys.exit(main())"
"""What the installed ``laptime`` script does."""

LAUNCH = Path(__file__).with_name("launch.py")
SCHEMA = Path(laptime.__file__).parent / "report" / "explain-1.schema.json"

ERROR = frozenset({5})
USAGE = frozenset({2})
ANSWER = frozenset({0})
NOTHING = frozenset({3})


@dataclass(frozen=True)
class Case:
    """One hostile input.

    ``make`` writes it into a folder and returns the arguments after ``explain``. ``codes``: the
    exit codes that are right for it. ``says``: a pattern that the error, or the health of the
    answer, must show; None where nothing is lost. ``stdin``: the input comes by stdin.
    """

    name: str
    make: Callable[[Path], Sequence[str]]
    codes: frozenset[int]
    says: str | None = None
    slow: bool = False
    stdin: bool = False

    @property
    def limit_s(self) -> int:
        """A hang is told from a slow machine: large inputs take 5 to 15 s on an idle one."""
        return WALL_S * 5 if self.slow else WALL_S


@dataclass(frozen=True)
class Outcome:
    """What one run of the command line did."""

    code: int
    out: str
    err: str
    peak_bytes: int
    wall_s: float


def laptime_on(
    folder: Path, arguments: Sequence[str], *, stdin: str = "/dev/null", wall_s: int = WALL_S
) -> Outcome:
    """Run ``laptime explain`` with the given arguments."""
    out, err = folder / "stdout", folder / "stderr"
    command = [sys.executable, "-c", ENTRY, "explain", *arguments]
    limits = [str(SPACE_BYTES), str(wall_s), stdin, str(out), str(err)]
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(LAUNCH), *limits, *command],
        capture_output=True,
        text=True,
        check=True,
        timeout=wall_s + 30,
    )
    said = json.loads(done.stdout)
    return Outcome(
        code=said["code"],
        out=out.read_text("utf-8"),
        err=err.read_text("utf-8"),
        peak_bytes=said["peak_bytes"],
        wall_s=said["wall_s"],
    )


@lru_cache(maxsize=1)
def _schema() -> Any:
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))


def _no_constants(word: str) -> Any:
    raise AssertionError(f"{word} is no JSON")


def the_object(text: str) -> dict[str, Any]:
    """The JSON answer: strict, valid by the schema, its ledger summing to its windows."""
    found: dict[str, Any] = json.loads(text, parse_constant=_no_constants)
    errors = [e.message[:300] for e in _schema().iter_errors(found)]
    assert errors == []
    assert text.isascii()
    sums: dict[tuple[str, str], int] = {}
    for row in found["ledger"]:
        assert row["ns"] > 0
        key = (row["device"], row["lap"])
        sums[key] = sums.get(key, 0) + row["ns"]
    windows = {(w["device"], w["lap"]): w["dur_ns"] for w in found["device_laps"]}
    assert {k: v for k, v in windows.items() if v} == sums
    return found


ACTS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that act on a terminal or reorder text, all but the end of a line."""


def check_common(outcome: Outcome) -> None:
    """What must hold of any run."""
    assert outcome.code in (0, 2, 3, 5), (outcome.code, outcome.err[-3000:])
    assert "Traceback" not in outcome.err
    assert outcome.peak_bytes <= PEAK_BYTES, f"{outcome.peak_bytes / 1e6:.0f} MB"
    assert not ACTS.search(outcome.err), repr(outcome.err)
    assert not ACTS.search(outcome.out), repr(outcome.out[:2000])
    if outcome.code:
        assert outcome.err.startswith("laptime: ")
        assert outcome.err.count("\n") == 1
        assert outcome.err.endswith("\n")
        assert len(outcome.err) < 1000
        assert re.search(r"; \w", outcome.err), f"no mend: {outcome.err}"
    else:
        assert outcome.err == ""


def check_page(page: str) -> None:
    """A page that holds markup of its own only, and no character that acts."""
    assert page.startswith("<!DOCTYPE html>")
    assert not ACTS.search(page), repr(ACTS.search(page))
    assert "<script>alert" not in page
    assert "<img" not in page
