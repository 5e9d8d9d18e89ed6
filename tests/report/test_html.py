from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from laptime.report import html
from laptime.report.lap_bars import MOST_BARS, chart
from tests.report import made
from tests.report.test_terminal import MADE

VOID = {"meta", "br", "hr", "img", "input", "link", "rect"}


class Page(HTMLParser):
    """Collects tags and attributes; fails where tags do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag
        elif tag == "rect":
            return

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("name", sorted(MADE))
def test_pages_are_self_contained_and_without_script(name: str) -> None:
    text = html.page(MADE[name]())
    text.encode("utf-8")
    page = Page(text)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    for tag, attrs in page.tags:
        assert not set(attrs) & {"src", "href", "srcset"}, tag
        assert not any(a.startswith("on") for a in attrs), tag
    assert not re.search(r"https?://|@import|url\((?!#)", text)
    policy = [a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a]
    assert policy
    assert (policy[0] or "").startswith("default-src 'none'")


def test_hostile_text_is_only_text() -> None:
    text = html.page(made.hostile())
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text)
    page = Page(text)
    assert "<script>alert('x')</script>\"&\\x1b[31m\\u202eevil\\x00\\ud800 </title>" in page.text
    assert max(len(t) for t in page.text if "kkk" in t) <= 240


def test_bars_are_the_partition() -> None:
    ledger = made.training().views[0].ledger
    drawn = chart(ledger, ledger.devices[0])
    assert [b.counted for b in drawn.bars] == [False, True, True, True, True, False]
    assert [b.remark for b in drawn.bars] == ["warm-up", "", "", "", "", "open"]
    for bar, window in zip(drawn.bars, ledger.devices[0].windows, strict=True):
        assert sum(s.width for s in bar.stretches) == pytest.approx(
            100 * window.dur_ns / (190 * made.MS), abs=0.01
        )
    assert drawn.note == ""


def test_many_laps_are_sampled_with_the_worst_among_them() -> None:
    ledger = made.many_laps().views[0].ledger
    drawn = chart(ledger, ledger.devices[0])
    assert len(drawn.bars) <= MOST_BARS
    assert "ProfilerStep#123" in [b.label for b in drawn.bars]
    assert drawn.note.startswith(f"{len(drawn.bars)} of 500 laps")


def test_table_headers_name_their_scope() -> None:
    for tag, attrs in Page(html.page(made.two_ranks())).tags:
        if tag == "th":
            assert attrs.get("scope") in {"col", "row"}


def test_several_ranks_are_grouped_and_each_one_is_folded_away() -> None:
    text = html.page(made.eight_ranks())
    page = Page(text)
    folded = [a for t, a in page.tags if t == "details" and a.get("class") == "rank"]
    assert len(folded) == 8
    assert not any("open" in a for a in folded)
    assert text.count("worst by bound: rank 7") == 1
    assert "of the lap: 10.0% to 35.0%, median 20.0%" in text
    one = html.page(made.eight_ranks(), rank=3)
    assert "Only rank 3 is shown below" in one
    assert "15.0 ms of a 100 ms lap" in one
    assert "35.0 ms of a 100 ms lap" not in one


def test_events_count_from_the_origin_of_the_run() -> None:
    text = html.page(made.training())
    assert ">190,000,000</td>" in text
    assert ">1700000000313456.789</td>" in text


def test_findings_follow_the_verdict_and_what_was_not_found_them() -> None:
    for answer in (made.training(), made.eight_ranks()):
        heads = headings(html.page(answer))
        assert heads[0] == "Findings"
        assert heads[1].startswith("1. ")
        (out,) = [i for i, head in enumerate(heads) if head.startswith("Ruled out: ")]
        assert heads.index("Not measured") == out + 1
        assert heads.index("Not measured") < heads.index("Evidence")


def headings(text: str) -> list[str]:
    return re.findall(r"<h[23]>([^<]*)</h[23]>", text)
