"""The annotated trace, read by a parser of its own: every event kept, every nanosecond told."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from laptime.evidence.registry import open_run
from laptime.explaining import explanation_of
from laptime.explanation import Explanation
from laptime.model.errors import CannotTell, UsageError
from laptime.report import perfetto
from tests.builder.kineto import kineto_text
from tests.builder.scenarios_input import input_no_workers
from tests.builder.variant import Variant
from tests.evidence_files import kineto_files, kineto_id, needs_evidence

Item = dict[str, Any]


def explained(path: Path) -> Explanation:
    return explanation_of(open_run([str(path)]))


def annotated(path: Path, out: Path) -> tuple[Explanation, list[Item]]:
    answer = explained(path)
    view = max(answer.views, key=lambda v: len(v.timeline.rows.start_ns))
    added = perfetto.write(answer, view, str(out))
    text = gzip.decompress(out.read_bytes()) if out.suffix == ".gz" else out.read_bytes()
    whole = json.loads(text.decode("utf-8", "replace"), parse_float=Decimal, strict=False)
    items: list[Item] = whole if isinstance(whole, list) else whole["traceEvents"]
    mine = [e for e in items if e.get("pid") == items[0]["pid"]]
    assert len(mine) == added
    assert items[:added] == mine  # further events stand before the trace's own
    return answer, items


def made(tmp_path: Path, variant: Variant | None = None) -> Path:
    path = tmp_path / "trace.json"
    path.write_text(kineto_text(input_no_workers(variant).trace))
    return path


def ns(value: Decimal | int) -> int:
    exact = Decimal(value) * 1000
    assert exact == exact.to_integral_value()
    return int(exact)


def accounts(items: list[Item]) -> dict[tuple[int, str], int]:
    total: dict[tuple[int, str], int] = {}
    for item in items:
        account = item.get("args", {}).get("account") if item.get("cat") == "laptime" else None
        if account is not None:
            key = item["tid"], account
            total[key] = total.get(key, 0) + ns(item["dur"])
    return total


def ledger(answer: Explanation) -> list[int]:
    columns = [
        int(n) for v in answer.views for d in v.ledger.devices for n in d.ns.sum(axis=0).tolist()
    ]
    return sorted(n for n in columns if n)


def test_every_event_of_the_trace_is_kept_as_it_is(tmp_path: Path) -> None:
    path = made(tmp_path)
    _, items = annotated(path, tmp_path / "out.json")
    before = json.loads(path.read_text(), parse_float=Decimal)["traceEvents"]
    assert items[len(items) - len(before) :] == before


def test_the_accounts_sum_to_the_ledger(tmp_path: Path) -> None:
    answer, items = annotated(made(tmp_path), tmp_path / "out.json.gz")
    assert sorted(accounts(items).values()) == ledger(answer)


def test_laps_and_findings_are_tracks_with_their_figures(tmp_path: Path) -> None:
    answer, items = annotated(made(tmp_path), tmp_path / "out.json")
    names = {
        e["args"]["name"]: e["tid"]
        for e in items
        if e["ph"] == "M" and e["name"] == "thread_name" and e["pid"] == items[0]["pid"]
    }
    mine = [e for e in items if e.get("cat") == "laptime"]
    on_host = [e for e in mine if e["tid"] == names["laps on the host (source: mark)"]]
    laps = answer.views[0].ledger.laps.laps
    assert [(e["name"], ns(e["dur"])) for e in on_host] == [(p.label, p.dur_ns) for p in laps]
    first = answer.judgement.findings[0]
    found = [e for e in mine if e["tid"] == names[f"finding 1: {first.title}"]]
    assert [e["args"]["sentence"] for e in found] == [first.sentence]


@pytest.mark.parametrize("seed", range(4))
def test_no_track_holds_events_that_overlap_in_part(tmp_path: Path, seed: int) -> None:
    path = kineto_files()[seed * 7] if kineto_files() else made(tmp_path)
    _, items = annotated(path, tmp_path / "out.json")
    ends: dict[int, int] = {}
    for item in sorted(
        (e for e in items if e.get("cat") == "laptime"), key=lambda e: Decimal(e["ts"])
    ):
        start = ns(item["ts"])
        assert start >= ends.get(item["tid"], start)
        ends[item["tid"]] = start + ns(item["dur"])


def test_a_trace_that_breaks_off_is_closed_behind_its_last_whole_event(tmp_path: Path) -> None:
    path = made(tmp_path)
    text = path.read_text()
    whole = json.loads(text, parse_float=Decimal)["traceEvents"]
    path.write_text(text[: text.index('"name"', len(text) // 2) + 3])
    _, items = annotated(path, tmp_path / "out.json")
    kept = [e for e in items if e.get("pid") != items[0]["pid"]]
    assert kept == whole[: len(kept)]
    assert len(kept) > len(whole) // 3


def test_a_list_without_its_closing_bracket_is_closed(tmp_path: Path) -> None:
    path = made(tmp_path)
    items = json.loads(path.read_text())["traceEvents"]
    text = "[" + ",\n".join(json.dumps(i) for i in items)
    path.write_text(text)
    _, after = annotated(path, tmp_path / "out.json")
    assert len([e for e in after if e.get("pid") != after[0]["pid"]]) == len(items)


def test_annotated_traces_explain_alike(tmp_path: Path) -> None:
    before, _ = annotated(made(tmp_path), tmp_path / "out.json.gz")
    after = explained(tmp_path / "out.json.gz")
    assert after.verdict == before.verdict
    assert ledger(after) == ledger(before)
    assert after.run.health.warnings == before.run.health.warnings


def test_streams_cannot_be_written_again(tmp_path: Path) -> None:
    stream = BytesIO(made(tmp_path).read_bytes())
    answer = explanation_of(open_run([stream]))
    with pytest.raises(CannotTell, match="second time"):
        perfetto.write(answer, answer.views[0], str(tmp_path / "out.json"))


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    answer = explained(made(tmp_path))
    with pytest.raises(UsageError, match="cannot be written"):
        perfetto.write(answer, answer.views[0], str(tmp_path / "no" / "out.json"))


@needs_evidence
@pytest.mark.parametrize("path", kineto_files()[::3], ids=kineto_id)
def test_evidence_sums_to_its_ledger(path: Path, tmp_path: Path) -> None:
    answer, items = annotated(path, tmp_path / "out.json")
    if len(answer.views) == 1:
        assert sorted(accounts(items).values()) == ledger(answer)
