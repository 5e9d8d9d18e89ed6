from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len

from laptime.explanation import Explanation
from laptime.report import layout, shown, terminal
from laptime.report.numbers import duration, share
from tests.report import golden_text, made

MADE = {
    "training": made.training,
    "cpu_only": made.cpu_only,
    "two_ranks": made.two_ranks,
    "eight_ranks": made.eight_ranks,
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


@pytest.mark.parametrize("width", [40, 60, 80, 96, 160])
@pytest.mark.parametrize("name", sorted(MADE))
def test_no_line_is_wider_than_asked_nor_ends_in_blanks(name: str, width: int) -> None:
    answer = MADE[name]()
    ranks = {v.timeline.rank for v in answer.views} - {None}
    for rank in (None, *sorted(r for r in ranks if r is not None)):
        for line in text(answer, width, rank).splitlines():
            assert cell_len(line) <= width
            assert line == line.rstrip()


@pytest.mark.parametrize("width", [40, 60])
@pytest.mark.parametrize("name", ["training", "cpu_only"])
def test_a_narrow_ledger_keeps_its_figures(name: str, width: int) -> None:
    answer = MADE[name]()
    (view,) = answer.views
    told = text(answer, width)
    assert "█" not in told
    for line in shown.account_lines(view.ledger, view.ledger.devices[0]):
        figures = rf"{re.escape(duration(line.ns))} +{re.escape(share(line.share))}"
        assert re.search(figures, told), line


def test_eight_ranks_fit_on_two_screens() -> None:
    lines = text(made.eight_ranks(), 100).splitlines()
    assert len(lines) < 120
    assert lines[-1] == "ledger, laps, functions, regions and kernels of one rank: --rank N"


def test_every_cause_is_told_once_with_its_worst_rank() -> None:
    told = text(made.eight_ranks(), 160)
    head = (
        "1. Exposed collectives (exposed-collectives), 6 of 8 ranks (2-7), worst by bound: rank 7"
    )
    assert told.count("(exposed-collectives)") == 1
    assert head in told
    assert "share   of the lap: 10.0% to 35.0%, median 20.0%" in told
    assert "costs   at most 10.0 ms to 35.0 ms, median 20.0 ms a lap (bounds, not gains)" in told
    assert "rank 7  Communication without compute takes 35.0 ms of a 100 ms lap." in told
    assert told.count("start communication earlier") == 1


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
    told = text(made.two_ranks(), rank=1)
    assert "rank 1: trace1.json.gz" in told
    assert "rank 0: trace0.json.gz" not in told
    assert "30.0 ms of a 100 ms lap" in told
    assert "10.0 ms of a 100 ms lap" not in told
    assert "Kernels" in told
    assert "Only rank 1 is shown below" in told
    assert "Kernels" not in text(made.two_ranks())


@pytest.mark.parametrize("width", [80, 160])
def test_kernels_have_their_mean(width: int) -> None:
    answer = made.training()
    told = text(answer, width)
    assert re.search(r"time +share +calls +mean +kernel", told)
    for k in answer.views[0].kernels[:3]:
        assert re.search(
            rf"{re.escape(duration(k.ns))} .* {k.count:,} +{re.escape(duration(k.ns / k.count))}",
            told,
        )


def test_markup_in_names_is_text() -> None:
    explanation = made.training()
    odd = Explanation(
        explanation.run, explanation.views, explanation.judgement, "[bold]x[/] :smile:"
    )
    assert text(odd).startswith("[bold]x[/] :smile:\n")
