"""Cause: CUDA graphs are captured inside the laps."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.allocation_calls import told_calls
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.compiling import Compiling, compiling
from laptime.causes.limits import COMPILE_SHARE
from laptime.causes.named import named
from laptime.causes.origin import main_origin, origin_lines
from laptime.causes.recurring import in_laps
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger.states import BEGIN_CAPTURE


class GraphCaptureInWindow:
    """Graphs captured in the laps.

    What it is
        A stream is captured into a graph, or a graph is instantiated or updated, inside the
        recorded laps: a batch size or shape is new, a cache of graphs is too small, or the warm-up
        was too short.

    How it shows
        ``cudaStreamBeginCapture`` to ``cudaStreamEndCapture`` and ``cudaGraphInstantiate`` (also
        ``hip``), in account ``compile``.

    Why it costs
        What is launched in a capture is recorded and not run: the device is idle, and the lap still
        has to be run afterwards.

    How the gain is predicted
        Bound: the counted time in account ``compile`` between begin and end of captures and inside
        instantiations.

    What is not flagged
        Replays. Captures outside the counted windows.

    Must not flag
        - ``kineto/tracelens/inference/vllm_decode_full/graph_execution``: one replay.
        - ``kineto/hta/negative_queue_length_values_check``: 14 replays a lap, no capture.
    """

    id = "graph-capture-in-window"
    title = "Graphs are captured in the laps"
    layer = "host"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS)
    silences: Sequence[str] = ("launch-bound",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits longest for captures."""
        rank = case.timeline.rank
        looked = [(v, compiling(v)) for v in gpu_views(case)]
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, found = max(looked, key=lambda v: v[0].share(v[1].captured))
        share = view.share(found.captured)
        if share < COMPILE_SHARE.value:
            if view.number(found.capture_rows) == 0:
                return Clear(self.id, "no graph is captured in the counted laps", rank)
            told = wording.below(share, COMPILE_SHARE.value, "of the lap")
            return Clear(self.id, f"captures of graphs take {told}", rank)
        return self._finding(view, found, share)

    def _finding(self, view: DeviceView, found: Compiling, share: float) -> Finding:
        rows = view.case.timeline.rows
        calls = found.capture_rows
        begins = calls[named(rows, calls, BEGIN_CAPTURE)]
        made = calls[~named(rows, calls, BEGIN_CAPTURE)]
        bound = view.mean_ns(found.captured)
        where = main_origin(view.case, calls)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"The device waits for captures of graphs for {view.of_lap(bound)} "
                f"({wording.percent(share)}){in_laps(view, found.captured)}: "
                f"{wording.counted(view.number(begins) / view.laps, 'capture')}{view.per_lap}"
                + (f", {told_calls(view, made)}" if len(made) else "")
                + (f", most from {where}." if where else ".")
            ),
            share=share,
            bound_ns=bound,
            formula=(
                "time in account compile inside captures and instantiations = "
                f"{wording.time(bound)}{view.per_lap}"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(calls),
            events_in_all=view.number(calls),
            why=(
                f"captures begun: {view.number_in_all(view.number(begins), 'capture')}",
                "what is launched in a capture is recorded and not run",
                *origin_lines(view.case, calls, view.laps),
            ),
            next_step=(
                "capture the sizes that occur before measuring, and pad batches to them; with "
                "mode='reduce-overhead', every new shape captures again",
                "to profile iterations, start the profiler after the captures",
            ),
        )


CAUSE = GraphCaptureInWindow()
