"""Hostile inputs through the real command line: an answer that says what it lost, or one line.

Each input is made by the test, run twice (JSON with a page; the terminal's report) under a limit of
time, and measured: never a traceback, never more than 1 GB, never an undocumented exit code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.hostile import containers, structure, syntax, values
from tests.hostile.running import (
    Case,
    Outcome,
    check_common,
    check_page,
    laptime_on,
    the_object,
)

CASES = [*containers.CASES, *syntax.CASES, *values.CASES, *structure.CASES]


QUICK = 1
"""Of cases alike but for a word (``times are NaN``, ``times are null``), so many run quickly."""


def _parameters(terminal: bool) -> Sequence[object]:
    """Cases as parameters; on a terminal only hostile names can do harm, so the rest is slow."""
    alike: dict[str, int] = {}
    found = []
    for case in CASES:
        family = " ".join(case.name.split()[:2])
        alike[family] = alike.get(family, 0) + 1
        slow = case.slow or alike[family] > QUICK
        slow |= terminal and not case.name.startswith(("names that", "names of rich", "raw names"))
        marks = [pytest.mark.slow] if slow else []
        found.append(pytest.param(case, id=case.name.replace(" ", "-"), marks=marks))
    return found


def _run(case: Case, folder: Path, extra: list[str]) -> Outcome:
    made = folder / "in"
    made.mkdir()
    arguments = list(case.make(made))
    if case.stdin:
        (path,) = arguments
        return laptime_on(folder, ["-", *extra], stdin=path, wall_s=case.limit_s)
    return laptime_on(folder, [*arguments, *extra], wall_s=case.limit_s)


@pytest.mark.parametrize("case", _parameters(terminal=False))
def test_json_and_page(case: Case, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outcome = _run(case, tmp_path, ["--json", "--html", str(page)])
    check_common(outcome)
    assert outcome.code in case.codes, outcome.err or outcome.out[-1500:]
    if outcome.code == 0:
        said = "\n".join(the_object(outcome.out)["health"]["warnings"])
        check_page(page.read_text("utf-8"))
    else:
        said = outcome.err
    if case.says is not None:
        assert re.search(case.says, said), said


@pytest.mark.parametrize("case", _parameters(terminal=True))
def test_terminal(case: Case, tmp_path: Path) -> None:
    outcome = _run(case, tmp_path, ["--width", "80"])
    check_common(outcome)
    assert outcome.code in case.codes, outcome.err or outcome.out[-1500:]


def test_there_are_enough_inputs() -> None:
    assert len(CASES) >= 40
    assert len({c.name for c in CASES}) == len(CASES)
