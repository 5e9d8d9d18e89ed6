"""How causes write numbers that could mislead."""

from __future__ import annotations

import pytest

from laptime.causes.wording import below


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (0.01, "1.0 % of it, below 5.0 %"),
        (0.04996, "4.996 % of it, below 5.000 %"),
        (0.0497, "4.97 % of it, below 5.00 %"),
        (0.0496, "4.96 % of it, below 5.00 %"),
        (0.0494, "4.9 % of it, below 5.0 %"),
        (0.0, "0.0 % of it, below 5.0 %"),
        (0.0001, "below 0.1 % of it"),
    ],
)
def test_a_share_and_its_limit_never_look_equal(share: float, told: str) -> None:
    assert below(share, 0.05, "of it") == told
