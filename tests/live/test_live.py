"""Real programs, profiled here on the CPU, against what each measured itself.

The programs run once, in one process, before the tests. Figures are compared as ratios with the
program's own clock around the planted part, never with absolute times: the machine may be busy, and
both clocks see the same delays.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

import laptime
from laptime import Explanation
from laptime.ledger.ledger import DeviceLedger
from laptime.model.laps import Lap

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)

NAMES = [
    "slow_loader",
    "slow_loader_stacks",
    "slow_workers",
    "healthy",
    "healthy_workers",
    "python_bound",
    "python_bound_stacks",
    "collecting",
    "checkpointing",
    "regions",
    "no_marks",
    "two_threads",
    "compiled",
]
STEPS = 6
LIMIT_S = 400
CLOSE = 0.10
ALLOWED_NS = 2_000_000
"""Beside the ratio, for each lap: the row lies inside what the program times, and another process
may take the processor between the two."""


@dataclass(frozen=True)
class Live:
    """One program's trace explained, with what the program told."""

    path: Path
    told: dict[str, dict[str, int]]
    tid: int

    @cached_property
    def answer(self) -> Explanation:
        return laptime.explain(laptime.open(self.path))

    @property
    def ledger(self) -> DeviceLedger:
        (view,) = self.answer.views
        (device,) = view.ledger.devices
        return device

    @property
    def laps(self) -> list[Lap]:
        return list(self.answer.views[0].ledger.laps.laps)

    @property
    def found(self) -> list[str]:
        """Causes of lost time found, most important first.

        The healthy verdict is none, nor is it one that a busy machine's laps are too uneven, or
        that one at the edge took longer.
        """
        others = ("healthy", "unhealthy-trace", "warm-up-in-window")
        return [f.id for f in self.answer.judgement.findings if f.id not in others]

    def account_ns(self, account: str) -> int:
        return int(self.ledger.window_ns(account).sum())

    def told_ns(self, part: str, laps: list[Lap] | None = None) -> int:
        """What the program measured in these laps (all of them, where none are given)."""
        steps = [lap.label.split("#")[1] for lap in (self.laps if laps is None else laps)]
        return sum(self.told[part][step] for step in steps)


def agrees(ours_ns: float, told_ns: float, laps: int = STEPS) -> None:
    assert abs(ours_ns - told_ns) <= CLOSE * told_ns + ALLOWED_NS * laps, (ours_ns, told_ns)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("live")
    program = Path(__file__).with_name("programs.py")
    done = subprocess.run(
        [sys.executable, str(program), str(place), *NAMES],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return place


@pytest.fixture(scope="session")
def live(folder: Path) -> dict[str, Live]:
    found = {}
    for name in NAMES:
        told = json.loads((folder / f"{name}.told.json").read_text())
        found[name] = Live(folder / f"{name}.json.gz", told["ns"], told["tid"])
    return found


MARKED = [n for n in NAMES if n not in ("no_marks", "compiled")]


@pytest.mark.parametrize("name", MARKED)
def test_laps_are_the_programs_steps(live: dict[str, Live], name: str) -> None:
    one = live[name]
    laps = one.answer.views[0].ledger.laps
    assert (laps.source, laps.confidence) == ("mark", 1.0)
    assert [lap.label for lap in one.laps] == [f"ProfilerStep#{2 + i}" for i in range(STEPS)]
    agrees(sum(lap.dur_ns for lap in one.laps), one.told_ns("step"))


@pytest.mark.parametrize("name", NAMES)
def test_ledgers_sum_and_belong_to_the_training_thread(live: dict[str, Live], name: str) -> None:
    one = live[name]
    assert one.ledger.cpu
    assert one.ledger.device == f"thread {one.tid}"
    assert one.ledger.ns.sum(axis=1).tolist() == [w.dur_ns for w in one.ledger.windows]
    assert one.account_ns("unattributed") == 0
    assert one.answer.run.health.lost == 0


@pytest.mark.parametrize("name", ["slow_loader", "slow_loader_stacks", "slow_workers"])
def test_slow_loader_is_found_first_and_measured(live: dict[str, Live], name: str) -> None:
    one = live[name]
    agrees(one.account_ns("input_wait"), one.told_ns("loader"))
    assert one.found[0] == "input-starvation"
    finding = one.answer.judgement.findings[0]
    steady = [lap for lap in one.laps if lap.steady]
    assert finding.bound_ns is not None
    agrees(finding.bound_ns * len(steady), one.told_ns("loader", steady))
    assert finding.share is not None
    told = one.told_ns("loader", steady) / one.told_ns("step", steady)
    assert finding.share == pytest.approx(told, abs=0.1)
    workers = "workers already load" if name == "slow_workers" else "num_workers 0"
    assert workers in finding.sentence


def test_two_threads(live: dict[str, Live]) -> None:
    """What the other thread computes is in no account of the training thread."""
    one = live["two_threads"]
    agrees(one.account_ns("input_wait"), one.told_ns("loader"))
    assert one.account_ns("operators") <= one.told_ns("train") * (1 + CLOSE)
    assert one.found[0] == "input-starvation"
    rows = one.answer.views[0].timeline.rows
    lanes = one.answer.views[0].timeline.lanes
    busy = {
        lanes[i].tid for i in rows.lane[rows.names_matching(lambda n: n == "aten::mm")[rows.name]]
    }
    assert len(busy) >= 2, "the second thread's operators are in the trace"


def test_healthy_loop_has_no_cause(live: dict[str, Live]) -> None:
    one = live["healthy"]
    steady = [lap for lap in one.laps if lap.steady]
    # A busy machine may stop the thread inside the loader too: then it did wait there.
    if one.told_ns("loader", steady) < 0.03 * one.told_ns("step", steady):
        assert one.found == []
    assert one.account_ns("operators") <= one.told_ns("train")
    outside = one.account_ns("between_ops") + one.account_ns("input_wait")
    agrees(one.account_ns("operators") + outside, one.told_ns("step"))
    assert one.account_ns("operators") > outside


def test_loader_with_workers_is_found_only_where_it_is_waited_for(live: dict[str, Live]) -> None:
    one = live["healthy_workers"]
    agrees(one.account_ns("input_wait"), one.told_ns("loader"))
    steady = [lap for lap in one.laps if lap.steady]
    waited = one.told_ns("loader", steady) / one.told_ns("step", steady)
    if waited < 0.03:
        assert one.found == []
    elif waited > 0.08:
        assert one.found == ["input-starvation"]


def test_python_is_between_operators_without_stacks(live: dict[str, Live]) -> None:
    one = live["python_bound"]
    agrees(one.account_ns("between_ops"), one.told_ns("extra"))
    assert set(one.ledger.merged["between_ops"]) == {"python", "off_cpu"}
    assert one.account_ns("python") == 0
    assert one.found == []


def test_python_is_python_with_stacks(live: dict[str, Live]) -> None:
    one = live["python_bound_stacks"]
    agrees(one.account_ns("python"), one.told_ns("extra"))
    assert one.account_ns("between_ops") <= ALLOWED_NS * STEPS
    # It is Python, and it comes when the model is done: either name is right.
    assert one.found in (["python-between-ops"], ["host-work-after-model"])


def test_collections(live: dict[str, Live]) -> None:
    one = live["collecting"]
    agrees(one.account_ns("gc"), one.told_ns("extra"))
    assert "collects garbage" in one.answer.verdict
    assert one.found == ["explicit-collection"]


def test_checkpoints(live: dict[str, Live]) -> None:
    one = live["checkpointing"]
    agrees(one.account_ns("side_work"), one.told_ns("extra"))
    assert "checkpoint" in one.answer.verdict
    assert one.found == ["checkpoint-stalls"]


@pytest.mark.parametrize("name", ["healthy", "slow_loader", "slow_loader_stacks", "python_bound"])
def test_what_was_not_planted_is_not_there(live: dict[str, Live], name: str) -> None:
    one = live[name]
    for account in ("gc", "side_work", "compile"):
        assert one.account_ns(account) <= 0.01 * one.told_ns("step"), account


def test_regions_of_the_user(live: dict[str, Live]) -> None:
    one = live["regions"]
    (table,) = one.answer.views[0].regions.values()
    assert sum(line.ns for line in table.lines) == table.window_ns
    by_name = {line.name: line for line in table.lines}
    steady = [lap for lap in one.laps if lap.steady]
    for name, account in (("my wait", "between_ops"), ("my sort", "operators")):
        agrees(by_name[name].ns, one.told_ns(name, steady))
        assert by_name[name].accounts[account] > 0.8 * by_name[name].ns


def test_laps_without_marks(live: dict[str, Live]) -> None:
    """Laps run from the end of one optimiser step to the end of the next."""
    one = live["no_marks"]
    laps = one.answer.views[0].ledger.laps
    assert (laps.source, len(laps.laps)) == ("mark", STEPS - 1)
    assert laps.mark == "Optimizer.step#SGD.step"
    told = sum(one.told["step"][str(i)] for i in range(1, STEPS))
    agrees(sum(lap.dur_ns for lap in one.laps), told)
    agrees(one.account_ns("input_wait"), sum(one.told["loader"][str(i)] for i in range(1, STEPS)))
    assert one.found[0] == "input-starvation"


def test_compilation(live: dict[str, Live]) -> None:
    one = live["compiled"]
    assert [lap.label for lap in one.laps] == [f"training_step#{i}" for i in range(5)]
    assert not one.laps[0].steady
    compiling = one.ledger.window_ns("compile").tolist()
    assert compiling[0] > 0.8 * one.told["step"]["0"]
    assert compiling[1:] == [0] * 4


def test_a_live_trace_cut_short_is_answered_in_part(live: dict[str, Live], tmp_path: Path) -> None:
    data = live["slow_loader"].path.read_bytes()
    (tmp_path / "cut.json.gz").write_bytes(data[: len(data) * 9 // 10])
    answer = laptime.explain(laptime.open(tmp_path / "cut.json.gz"))
    assert answer.run.health.lost > 0
    whole = json.loads(gzip.decompress(data))["traceEvents"]
    assert 0 < answer.run.health.items < len(whole)
