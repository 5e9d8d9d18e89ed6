"""What a capture says beside the ledger: the lap without the profiler, throughput, clocks, cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from laptime.explanation import Explanation, View
from laptime.ledger.overhead import LEAST_LAPS, LEVEL, MeanLap, Overhead, overhead
from laptime.model.counters import ProcessFacts
from laptime.report.numbers import NOT_MEASURED, duration, many

Json = dict[str, Any]
_PERCENT = f"{LEVEL:.0%}".replace("%", " %")


def capture_lines(view: View) -> list[tuple[str, str]]:
    """Labelled lines of one timeline; none where the evidence is a trace alone."""
    captured, cost = view.timeline.capture, view.overhead
    if captured is None or cost is None:
        return []
    lines = [("without the profiler", _plain(cost))]
    if cost.per_s is not None:
        lines.append(("throughput", _throughput(cost)))
    if captured.clock is not None:
        lines.append(("clock", _clock(captured.clock.residual_ns)))
    counters = captured.run.counters
    if counters is not None:
        lines.append(("host counters", _counters(counters.period_ns, counters.core_share)))
    return lines


def lone_lines(explanation: Explanation) -> list[str]:
    """One sentence for each captured process that has laps and no trace that was read."""
    shown = {
        (id(v.timeline.capture.run), v.timeline.capture.process.pid)
        for v in explanation.views
        if v.timeline.capture is not None
    }
    return [
        f"process {p.pid} has no trace; {_laps(p)}"
        for run in explanation.run.captures
        for p in run.processes
        if p.laps and (id(run), p.pid) not in shown
    ]


def capture_json(views: Sequence[View]) -> list[Json]:
    """The same for programs: one object for each captured timeline."""
    found = []
    for view in views:
        captured, cost = view.timeline.capture, view.overhead
        if captured is None or cost is None:
            continue
        clock, counters = captured.clock, captured.run.counters
        found.append(
            {
                "timeline": view.timeline.id,
                "rank": view.timeline.rank,
                "pid": captured.process.pid,
                "lap_source": captured.process.lap_source,
                "level": LEVEL,
                **_mean_json("plain", cost.plain),
                **_mean_json("recorded", cost.recorded),
                "cost": _ratio(cost.cost),
                "cost_low": _ratio(cost.cost_low),
                "cost_high": _ratio(cost.cost_high),
                "items_per_s": _ratio(cost.per_s),
                "unit": cost.unit,
                "items_laps": cost.counted,
                "tokens_per_s": _ratio(cost.tokens_per_s),
                "clock": None if clock is None else clock.source,
                "clock_residual_ns": None if clock is None else clock.residual_ns,
                "sampling_period_ns": None if counters is None else counters.period_ns,
                "sampler_core_share": None if counters is None else _ratio(counters.core_share),
                "cores_usable": _ratio(captured.run.usable_cores),
            }
        )
    return found


def _plain(cost: Overhead) -> str:
    if cost.plain is None:
        return f"{NOT_MEASURED}: no steady lap outside the recorded window"
    told = f"{_mean(cost.plain)} a lap"
    if cost.cost is None or cost.cost_low is None or cost.cost_high is None:
        return f"{told}; the cost of recording is {NOT_MEASURED} (needs {LEAST_LAPS} laps of both)"
    interval = f"{_PERCENT} {_signed(cost.cost_low)} to {_signed(cost.cost_high)}"
    if cost.shown_to_cost:
        return f"{told}; recording costs {_signed(cost.cost)} ({interval})"
    if cost.cost_high < 0:
        return f"{told}; recorded laps were shorter, by {_signed(cost.cost)} ({interval})"
    return f"{told}; no cost of recording shows ({interval})"


def _throughput(cost: Overhead) -> str:
    rates = [(cost.per_s, cost.unit), (cost.tokens_per_s, "tokens")]
    told = ", ".join(f"{_number(rate)} {unit}/s" for rate, unit in rates if rate is not None)
    padding = ", padding counted" if cost.tokens_per_s is not None else ""
    laps = cost.plain.laps if cost.plain is not None else 0
    part = f" ({cost.counted} of {laps} laps: those whose batch is known)"
    return f"{told}{padding}, without the profiler{part if cost.counted < laps else ''}"


def _mean(lap: MeanLap) -> str:
    if lap.low_ns is None or lap.high_ns is None:
        return f"{duration(lap.mean_ns)} ({many(lap.laps, 'lap')}, too few for an interval)"
    low, high = duration(lap.low_ns), duration(lap.high_ns)
    if low.split()[-1] == high.split()[-1]:
        low = low.split()[0]
    return f"{duration(lap.mean_ns)} ({_PERCENT} {low} to {high}, {many(lap.laps, 'lap')})"


def _laps(process: ProcessFacts) -> str:
    plain = process.of_phase("plain")
    told = f"{many(len(process.laps), 'lap')} counted"
    mean = overhead(plain, ()).plain
    return f"{told}, steady ones {_mean(mean)}" if mean is not None else f"{told}, none steady"


def _clock(residual_ns: int | None) -> str:
    if residual_ns is None:
        return "trace and host counters joined by the wall clock, to an error that is not known"
    return f"trace and host counters joined by two marks, residual {duration(residual_ns)}"


def _counters(period_ns: int | None, core_share: float | None) -> str:
    cost = (
        f"what that took is {NOT_MEASURED}"
        if core_share is None
        else f"sampling took {100 * core_share:.2g} % of one core"
    )
    every = "once" if period_ns is None else f"every {duration(period_ns)}"
    return f"read {every} from outside the program; {cost}"


def _signed(part: float) -> str:
    return f"{100 * part:+.1f} %" if abs(part) < 0.0995 else f"{100 * part:+.0f} %"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.3g}"


def _mean_json(kind: str, lap: MeanLap | None) -> Json:
    low, high = (None, None) if lap is None else (lap.low_ns, lap.high_ns)
    return {
        f"{kind}_laps": 0 if lap is None else lap.laps,
        f"{kind}_mean_ns": None if lap is None else round(lap.mean_ns),
        f"{kind}_low_ns": None if low is None else round(low),
        f"{kind}_high_ns": None if high is None else round(high),
    }


def _ratio(value: float | None) -> float | None:
    return None if value is None else round(float(value), 6)
