"""The documented tables say what the explanation says, number by number."""

from __future__ import annotations

import pytest

import laptime
from laptime.explanation import Explanation
from laptime.model.errors import UsageError
from laptime.report.as_json import explain_object
from laptime.tables import LAYOUTS
from tests.builder import SCENARIOS, Variant

NAMES = ("input_no_workers", "exposed_all_reduce")


@pytest.fixture(scope="module", params=NAMES)
def explained(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Explanation:
    path = tmp_path_factory.mktemp("tables") / "trace.json"
    SCENARIOS[request.param](Variant()).trace.write(path)
    found: Explanation = laptime.explain(laptime.open(path))
    return found


def test_ledger_and_windows_are_those_of_the_json(explained: Explanation) -> None:
    told = explain_object(explained)
    ledger = [(r["device"], r["lap"], r["account"], r["ns"]) for r in told["ledger"]]
    table = explained.table("ledger")
    assert [tuple(r.values())[1:] for r in table.rows()] == ledger
    windows = [(w["device"], w["lap"], w["dur_ns"]) for w in told["device_laps"]]
    found = list(explained.table("device_laps").rows())
    assert [(w["device"], w["lap"], w["dur_ns"]) for w in found] == windows
    # One origin: only a constant lies between the two.
    pairs = zip(found, told["device_laps"], strict=True)
    assert len({a["start_ns"] - b["start_ns"] for a, b in pairs}) == 1


def test_ledger_rows_of_a_window_sum_to_it(explained: Explanation) -> None:
    sums: dict[tuple[str, str], int] = {}
    for row in explained.table("ledger").rows():
        key = (row["device"], row["lap"])
        sums[key] = sums.get(key, 0) + row["ns"]
    windows = {(w["device"], w["lap"]): w["dur_ns"] for w in explained.table("device_laps").rows()}
    assert sums == windows


def test_findings_in_their_order(explained: Explanation) -> None:
    told = explain_object(explained)["findings"]
    rows = [r for r in explained.table("findings").rows() if not r["silenced"]]
    assert [(r["id"], r["bound_ns"], r["sentence"]) for r in rows] == [
        (f["id"], f["bound_ns"], f["sentence"]) for f in told
    ]


def test_rows_are_the_timelines(explained: Explanation) -> None:
    timeline = explained.run.timelines[0]
    rows = timeline.rows
    table = explained.run.table("rows")
    assert len(table) == len(rows)
    for i, row in enumerate(table.rows()):
        lane = timeline.lanes[int(rows.lane[i])]
        assert row["start_ns"] == int(rows.start_ns[i])
        assert row["dur_ns"] == (int(rows.dur_ns[i]) if rows.dur_ns[i] >= 0 else None)
        assert row["name"] == rows.name_of(i)
        assert (row["device"], row["stream"]) == (lane.device, lane.stream)
        assert row["thread"] == (None if lane.tid is None else str(lane.tid))


def test_every_table_has_its_columns(explained: Explanation) -> None:
    for name, layout in LAYOUTS.items():
        table = explained.table(name)
        assert table.columns == [c.name for c in layout.columns]
        assert all(c.meaning for c in layout.columns)


def test_unknown_table(explained: Explanation) -> None:
    with pytest.raises(UsageError, match="no table 'lap'; tables: laps, "):
        explained.table("lap")
    with pytest.raises(UsageError, match="no table 'ledger' of a run"):
        explained.run.table("ledger")
