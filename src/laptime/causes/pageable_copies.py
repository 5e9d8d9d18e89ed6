"""Cause: copies to the device from memory that is not pinned."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.blocking import HELD_BY_COPY, Copies, copies_to_device, copy_calls, waits
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.limits import COPY_SHARE, TINY_COPY_BYTES
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import I64


class PageableCopies:
    """Pageable copies.

    What it is
        Batches are copied to the device from ordinary memory. The call then waits for earlier work
        of its stream, stages the data through a pinned buffer, and returns when that is done.

    How it shows
        ``Memcpy HtoD (Pageable -> Device)``, and a long call: the call is the cost, not the copy
        (measured: a 40.0 ms call for a 3.6 ms copy). The device runs the copy alone
        (``exposed_copy``), or is idle inside the call and until the queue is filled again.

    Why it costs
        The host cannot enqueue ahead while it is in the call, and the copy cannot overlap work.

    How the gain is predicted
        Bound: counted time that the device spends in these copies alone, plus the time it is idle
        while a thread that feeds it is in these calls or refills behind them. Sets of time, no sums
        of durations.

    What is not flagged
        Copies of 64 KB or less, which return at once; copies hidden behind other work; copies whose
        memory the recorder does not name (ROCm): there the cause abstains.

    Must not flag
        - ``kineto/tracelens/b200``: two pageable copies among thirteen pinned ones, all tiny.
        - ``kineto/hta/ns_resolution_trace``: its copies stay on the device.
    """

    id = "pageable-copies"
    title = "Pageable copies"
    layer = "data"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS)
    silences: Sequence[str] = ("launch-bound",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that loses most to such copies."""
        rank = case.timeline.rank
        looked = [(v, copies_to_device(v)) for v in gpu_views(case)]
        if any(not copies.named for _, copies in looked):
            return Abstention(
                self.id,
                ("memory kind of the host-to-device copies",),
                "this recorder does not name the host memory of a copy: check pin_memory in the "
                "code, or profile with rocprofv3",
                rank,
            )
        costs = [(v, c, *_costs(v, c)) for v, c in looked]
        if not costs:
            return Clear(self.id, "no device time", rank)
        view, copies, alone, idle = max(costs, key=lambda c: c[0].share(intervals.both(c[2], c[3])))
        both = intervals.both(alone, idle)
        share = view.share(both)
        if share < COPY_SHARE.value:
            return Clear(self.id, _why_clear(view, copies, share), rank)
        return self._finding(view, copies, alone, idle)

    def _finding(self, view: DeviceView, copies: Copies, alone: Span, idle: Span) -> Finding:
        work = view.work
        assert work is not None
        both = intervals.both(alone, idle)
        bound = view.mean_ns(both)
        calls = copies.calls
        events = calls if view.number(calls) else work.row[copies.pageable]
        call_span = view.rows_span(calls)
        size = _bytes(view, copies)
        moved = "" if size is None else f", {wording.number(size / view.laps / 1e6)} MB"
        often = wording.count(len(copies.pageable) / view.laps)
        copied = wording.counted(len(copies.pageable) / view.laps, "copy")
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Copies from pageable memory ({often}{view.per_lap}{moved}) hold the host in "
                f"their calls for {view.of_lap(view.mean_ns(call_span))}; the device copies alone "
                f"for {wording.time(view.mean_ns(alone))} and is idle in or behind them for "
                f"{wording.time(view.mean_ns(idle))} "
                f"({wording.percent(view.share(both))} together)."
            ),
            share=view.share(both),
            bound_ns=bound,
            formula=(
                "exposed copy time of these copies + idle time in or right behind their calls = "
                f"{wording.time(view.mean_ns(alone))} + {wording.time(view.mean_ns(idle))}"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(events),
            events_in_all=view.number(events),
            why=(
                "a pageable copy's call waits for its stream, stages the data and blocks the host",
                f"{wording.counted(len(copies.pageable), 'copy')} above "
                f"{TINY_COPY_BYTES.value // 1024} KB {view.in_all}, "
                f"{copies.tiny} smaller not counted",
                f"calls hold the host for {view.in_total(intervals.total(call_span))}",
                *(
                    ()
                    if size is None
                    else (f"{copied}{view.per_lap}: {size:,} bytes {view.in_all}{moved}",)
                ),
            ),
            next_step=(
                "pin the batches: DataLoader(pin_memory=True), then .to(device, non_blocking=True)",
            ),
        )


def _costs(view: DeviceView, copies: Copies) -> tuple[Span, Span]:
    """Time in which only these copies run, and idle time in or behind their calls."""
    work = view.work
    assert work is not None
    chosen = copies.pageable
    runs = intervals.union(_at(work.start_ns, chosen), _at(work.end_ns, chosen))
    alone = intervals.intersect(view.time_in("exposed_copy"), runs)
    calls = copy_calls(view, copies)
    in_calls = intervals.intersect(view.time_in(*HELD_BY_COPY), view.rows_span(calls))
    return alone, intervals.both(in_calls, waits(view).of(calls))


def _at(column: I64, positions: I64) -> I64:
    chosen: I64 = column[positions]
    return chosen


def _bytes(view: DeviceView, copies: Copies) -> int | None:
    """Bytes of the copies; None where the evidence does not give every size."""
    sizes, work = view.case.timeline.rows.ints.get("bytes"), view.work
    if sizes is None or work is None:
        return None
    each = sizes.of(work.row[copies.pageable], -1)
    return None if (each < 0).any() else int(each.sum())


def _why_clear(view: DeviceView, copies: Copies, share: float) -> str:
    if copies.whole == 0:
        return "no copy from the host in the counted laps"
    if len(copies.pageable) == 0:
        return (
            f"none of {wording.counted(copies.whole, 'host-to-device copy')} "
            f"is pageable and above {TINY_COPY_BYTES.value // 1024} KB ({copies.tiny} tiny)"
        )
    return f"pageable copies cost {wording.below(share, COPY_SHARE.value, 'of the lap')}"


CAUSE = PageableCopies()
