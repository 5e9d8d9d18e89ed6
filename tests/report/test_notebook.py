"""What a notebook shows of an answer: its figures, escaped, bounded, and nothing that acts."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import laptime
from laptime.report import as_json, html, markdown
from laptime.report.notebook import DEVICES, fragment
from tests.hostile.pieces import events, trace
from tests.report import made


class Tags(HTMLParser):
    """Tags and attributes, and that every tag is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_ledger_and_causes_are_the_answers() -> None:
    answer = made.training()
    shown = answer._repr_html_()
    assert shown == fragment(answer)
    assert len(shown) < 20_000
    tags = Tags(shown)
    assert not tags.open
    assert not tags.names & {"script", "style", "link", "img", "iframe", "a"}
    assert tags.attributes <= {"style"}
    for finding in answer.judgement.findings:
        assert f"({finding.id})" in shown
    device = answer.views[0].ledger.devices[0]
    rows = re.findall(r"<tr><td[^>]*>([^<]*)</td>", shown)
    assert device.tree[0].title in rows


def test_names_of_the_evidence_are_escaped(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>\x1b[31m"
    rows = [{**e, "name": bad} if e["cat"] == "user_annotation" else e for e in events(6)]
    (tmp_path / "t.json").write_bytes(trace(rows))
    answer = laptime.explain(tmp_path / "t.json")
    shown = fragment(replace(answer, verdict=f"{bad} {answer.verdict}"))
    assert "<script" not in shown
    assert "\x1b" not in shown
    assert "&lt;script&gt;" in shown


def test_many_devices_are_counted(tmp_path: Path) -> None:
    for rank in range(6):
        (tmp_path / f"rank{rank}.json").write_bytes(
            trace(events(4), distributedInfo={"rank": rank, "world_size": 6, "backend": "nccl"})
        )
    shown = fragment(laptime.explain(tmp_path))
    assert shown.count("<thead>") == DEVICES
    assert f"and {6 - DEVICES} not shown" in shown
    assert not Tags(shown).open


def test_methods_give_the_outputs(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(trace(events(6)))
    run = laptime.open(tmp_path / "t.json")
    answer = run.explain()
    assert answer.verdict == laptime.explain(run).verdict
    assert answer.html() == html.page(answer)
    assert answer.markdown() == markdown.text(answer)
    assert answer.json() == as_json.explain_object(answer)
    assert run.explain(laps="ProfilerStep").verdict == laptime.explain(run, "ProfilerStep").verdict
