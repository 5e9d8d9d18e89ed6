from __future__ import annotations

import io

import pytest

from laptime.explanation import Explanation
from laptime.report import layout, terminal
from tests.report import golden_text, made

MADE = {
    "training": made.training,
    "cpu_only": made.cpu_only,
    "two_ranks": made.two_ranks,
    "hostile": made.hostile,
    "nothing": made.nothing,
    "many_laps": made.many_laps,
}


def text(explanation: Explanation, width: int = 80, rank: int | None = None) -> str:
    stream = io.StringIO()
    terminal.render(explanation, layout.console(stream, width), rank=rank)
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("name", sorted(MADE))
def test_report(name: str, width: int) -> None:
    golden_text.check(f"{name}_{width}.txt", text(MADE[name](), width))


@pytest.mark.parametrize("width", [40, 80, 160])
@pytest.mark.parametrize("name", sorted(MADE))
def test_no_line_is_wider_than_asked_nor_ends_in_blanks(name: str, width: int) -> None:
    for line in text(MADE[name](), width).splitlines():
        assert len(line) <= width
        assert line == line.rstrip()


def test_a_pipe_gets_no_escapes() -> None:
    assert "\x1b" not in text(made.training())
    assert "\x1b" not in text(made.hostile())


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = Screen()
    terminal.render(made.training(), layout.console(coloured, 80))
    assert "\x1b[31m" in coloured.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Screen()
    terminal.render(made.training(), layout.console(plain, 80))
    assert "\x1b[31m" not in plain.getvalue()


def test_verdict_comes_first_and_bounds_are_called_bounds() -> None:
    lines = text(made.training(), 160).splitlines()
    assert lines[0] == made.training().verdict
    assert "at most 59.3 ms a lap (a bound, not a gain)" in "\n".join(lines)


def test_one_rank_only() -> None:
    shown = text(made.two_ranks(), rank=1)
    assert "rank 1: trace1.json.gz" in shown
    assert "rank 0: trace0.json.gz" not in shown


def test_markup_in_names_is_text() -> None:
    explanation = made.training()
    odd = Explanation(
        explanation.run, explanation.views, explanation.judgement, "[bold]x[/] :smile:"
    )
    assert text(odd).startswith("[bold]x[/] :smile:\n")
