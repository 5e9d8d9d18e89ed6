from __future__ import annotations

import io

import pytest
from rich.cells import cell_len

from laptime.model.errors import UsageError
from laptime.report import layout, why
from tests.report import golden_text, made


def text(cause: str, width: int = 100) -> str:
    stream = io.StringIO()
    why.render(made.training(), layout.console(stream, width), cause)
    return stream.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_no_figure_is_cut_at_any_width(width: int) -> None:
    told = text("input-starvation", width)
    assert all(cell_len(line) <= width for line in told.splitlines())
    for figure in ("190,000,000", "1700000000313456.789", "365,000,000", "1700000000488456.789"):
        assert figure in told


def test_one_rank_of_several() -> None:
    stream = io.StringIO()
    why.render(made.two_ranks(), layout.console(stream, 100), "exposed-collectives", rank=1)
    assert "takes 30.0 ms" in stream.getvalue()
    assert "takes 10.0 ms" not in stream.getvalue()


@pytest.mark.parametrize(
    "cause", ["input-starvation", "host-synchronisation", "launch-bound", "fp32-matmul"]
)
def test_why(cause: str) -> None:
    golden_text.check(f"why_{cause}.txt", text(cause))


def test_an_unknown_cause_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"known: .*input-starvation"):
        text("nonsense")
