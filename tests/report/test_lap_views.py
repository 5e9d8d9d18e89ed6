from __future__ import annotations

import pytest

from laptime.report import lap_views
from tests.report import made


def test_a_slow_lap_says_of_what_it_has_more() -> None:
    view = made.training().views[0]
    device = view.ledger.devices[0]
    (line,) = lap_views.slow_lines(view, device)
    assert (line.label, line.length, line.more) == ("ProfilerStep#4", "176 ms", "+1.00 ms")
    assert line.accounts == "Host between operators +2.00 ms, Compute -1.00 ms"
    assert line.host_names == "aten::copy_ +1.90 ms"
    assert lap_views.median_phrase(view, device) == (
        "against the median lap, ProfilerStep#1 (175 ms)"
    )


@pytest.mark.parametrize("top", [0, 1, 2, 5])
def test_region_lines_sum_to_the_window_however_few_are_shown(top: int) -> None:
    view = made.training().views[0]
    lines = lap_views.region_lines(view, view.ledger.devices[0], top)
    assert sum(line.ns for line in lines) == 175 * made.MS
    assert sum(line.share or 0 for line in lines) == pytest.approx(1)
    assert len(lines) == min(top, 2) + (top < 2)


def test_without_views_nothing_is_shown() -> None:
    view = made.cpu_only().views[0]
    device = view.ledger.devices[0]
    assert lap_views.slow_lines(view, device) == []
    assert lap_views.median_phrase(view, device) is None
    assert lap_views.region_lines(view, device, 5) == []
