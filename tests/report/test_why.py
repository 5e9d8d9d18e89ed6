from __future__ import annotations

import io

import pytest

from laptime.model.errors import UsageError
from laptime.report import layout, why
from tests.report import golden_text, made


def text(cause: str) -> str:
    stream = io.StringIO()
    why.render(made.training(), layout.console(stream, 100), cause)
    return stream.getvalue()


@pytest.mark.parametrize(
    "cause", ["input-starvation", "host-synchronisation", "launch-bound", "fp32-matmul"]
)
def test_why(cause: str) -> None:
    golden_text.check(f"why_{cause}.txt", text(cause))


def test_an_unknown_cause_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"known: .*input-starvation"):
        text("nonsense")
