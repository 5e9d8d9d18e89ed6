"""Markdown as an independent parser shows it: the figures of the report, and nothing that acts."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from laptime.report import grouped, markdown
from laptime.report.numbers import visible
from tests.report import made
from tests.report.test_terminal import MADE


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        found += [token, *(token.children or [])]
    return found


def said(text: str) -> str:
    """What a reader sees, without marks."""
    return " ".join(t.content for t in tokens(text) if t.type in ("text", "code_inline"))


@pytest.mark.parametrize("name", sorted(MADE))
def test_texts_show_as_they_are_and_nothing_acts(name: str) -> None:
    answer = MADE[name]()
    text = markdown.text(answer)
    shown = "".join(said(text).split())
    assert "".join(visible(answer.verdict).split()) in shown
    several = len(answer.views) > 1
    for entry in grouped.entries(answer, answer.judgement, several):
        # Of several ranks, texts without a figure to rank by are told with the range of theirs.
        ranked = not several or entry.finding.share is not None
        told = visible(entry.finding.sentence) if ranked else dict(entry.rows)["found"]
        assert "".join(told.split()) in shown
    assert not {t.type for t in tokens(text)} & {"link_open", "image", "html_inline"}
    blocks = [t.content for t in tokens(text) if t.type == "html_block"]
    assert all(b.startswith(("<details><summary>", "</details>")) for b in blocks)
    assert all(b.count("<") in (1, 3) for b in blocks)


def test_the_ledger_is_a_table_of_the_terminals_figures() -> None:
    text = markdown.text(made.training())
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert any(row.startswith("| = window | ") and row.endswith("| 100.0% |") for row in rows)
    in_tables = [t for t in tokens(text) if t.type == "table_open"]
    assert len(in_tables) == 2  # the ledger and the kernels


@pytest.mark.parametrize(
    ("told", "shows"),
    [
        ("a_b*c*", "a\\_b\\*c\\*"),
        ("<b>@you #1", "&#60;b&#62;&#64;you &#35;1"),
        ("http://x www.x", "http&#58;//x www&#46;x"),
        ("69.3 of each 175 ms lap (32 %)", "69.3 of each 175 ms lap (32 %)"),
    ],
)
def test_marks_are_escaped_and_figures_left(told: str, shows: str) -> None:
    assert markdown.plain(told) == shows


def test_code_holds_no_mark_that_ends_it() -> None:
    assert markdown.code("a`b") == "`a'b`"
