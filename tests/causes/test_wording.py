"""How causes write numbers that could mislead."""

from __future__ import annotations

import pytest

from laptime.causes.wording import below, part_of


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


@pytest.mark.parametrize(
    ("part_ns", "told"),
    [
        (69_300_000, "69.3 of each 131 ms lap"),
        (1_000_000, "1.00 of each 131 ms lap"),
        (838_200, "838 us of each 131 ms lap"),  # 0.838 would read as a fraction of the lap
        (420, "420 ns of each 131 ms lap"),
        (0, "0 of each 131 ms lap"),
    ],
)
def test_a_part_below_one_unit_has_a_unit_of_its_own(part_ns: int, told: str) -> None:
    assert part_of(part_ns, 131_000_000, "each {} lap") == told
