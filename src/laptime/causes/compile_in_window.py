"""Cause: the program compiles inside the laps."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import SUPPLY, Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.compiling import (
    Compiling,
    by_name,
    compiling,
    modules_loaded,
    outermost_of,
    unshown,
)
from laptime.causes.launches import device_unseen
from laptime.causes.limits import COMPILE_SHARE
from laptime.causes.needs import abstention
from laptime.causes.origin import main_origin, origin_lines
from laptime.causes.recurring import in_laps, only_first_use
from laptime.causes.view import DeviceView, device_views


class CompileInWindow:
    """Compilation in the laps.

    What it is
        Dynamo, Inductor or Triton compile, or the driver loads modules, inside laps that count as
        steady: a shape, a dtype or a branch is new, guards fail and code is compiled again, or the
        warm-up was too short.

    How it shows
        Account ``compile``: frames and marks of the compilers (``convert_frame``, ``compile_fx``,
        ``(dynamo_timed)``, ``triton/compiler``), ``cuModuleLoad*``, ``cuLibraryLoad*``, "Lazy
        Function Loading", without captures of graphs and trials of autotuners.

    Why it costs
        The thread launches nothing until the code exists: milliseconds to minutes.

    How the gain is predicted
        Bound: the counted time in account ``compile`` outside captures and trials; on devices only
        what left them idle.

    What is not flagged
        Calls of compiled code; looking it up and checking its guards; compilation beside device
        work. Where the whole recording is one lap, first use cannot be told from compiling again,
        and the cause abstains; so it does where no Python is recorded and the thread is in no row
        for longer than compilation would be told.

    Must not flag
        - ``kineto/tracelens/b200``: functions loaded at first use, 0.5 % of the lap.
        - ``kineto/tracelens/mi300/resnet``: runs compiled code through Dynamo, and compiles none.
    """

    id = "compile-in-window"
    title = "Compilation in the laps"
    layer = "host"
    needs: Sequence[Need] = (Need.HOST_ROWS,)
    silences: Sequence[str] = ("launch-bound",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits longest for a compiler."""
        rank = case.timeline.rank
        views = [v for v in device_views(case) if v.knows("compile")]
        if not views or device_unseen(case):
            lacking = [n for n in (Need.GPU_ROWS, Need.LAUNCH_CALLS) if n not in case.has]
            return abstention(self.id, lacking or [Need.LAUNCH_CALLS], rank)
        looked = [(v, compiling(v)) for v in views]
        view, found = max(looked, key=lambda v: v[0].share(v[1].compiled))
        share = view.share(found.compiled)
        if share < COMPILE_SHARE.value:
            hidden = view.share(unshown(view))
            if hidden >= COMPILE_SHARE.value:
                return Abstention(
                    self.id,
                    (f"what the thread does for {wording.percent(hidden)} of the lap",),
                    SUPPLY[Need.STACKS],
                    rank,
                )
            told = wording.below(share, COMPILE_SHARE.value, "of the lap")
            return Clear(self.id, f"compilation takes {told}", rank)
        first_use = view.case.ledger.laps.source == "window" and only_first_use(
            self.id, view, f"compilation takes {wording.percent(share)}"
        )
        return first_use or self._finding(view, found, share)

    def _finding(self, view: DeviceView, found: Compiling, share: float) -> Finding:
        whole = outermost_of(view, found.compile_rows)
        bound = view.mean_ns(found.compiled)
        loads = modules_loaded(view, whole)
        where = main_origin(view.case, whole)
        what = (
            "The owning thread compiles" if view.ledger.cpu else "The device waits for compilation"
        )
        often = wording.counted((len(whole) - loads) / view.laps, "compilation")
        loaded = f", {wording.counted(loads / view.laps, 'load')} of modules" if loads else ""
        names = by_name(view, whole)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"{what} for {view.of_lap(bound)} ({wording.percent(share)})"
                f"{in_laps(view, found.compiled)}: {often}{loaded}{view.per_lap}"
                + (f", most from {where}." if where else ".")
            ),
            share=share,
            bound_ns=bound,
            formula=(
                "time in account compile, without captures of graphs and trials of autotuners = "
                f"{wording.time(bound)}{view.per_lap}"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(whole),
            events_in_all=view.number(whole),
            why=(*names, *origin_lines(view.case, whole, view.laps, "compilation")),
            next_step=_steps(loads, len(whole)),
        )


def _steps(loads: int, whole: int) -> tuple[str, ...]:
    """Advice by what is compiled."""
    again = (
        "TORCH_LOGS=recompiles names the guard that failed: mark sizes dynamic "
        "(torch._dynamo.mark_dynamic), pad to a few sizes, or keep Python values out of the graph",
        "if these laps are the first with their shapes, warm up for longer before measuring",
    )
    loading = ("CUDA_MODULE_LOADING=EAGER loads at the start what is loaded here at first use",)
    if loads == whole:
        return loading
    return (*again, *(loading if loads else ()))


CAUSE = CompileInWindow()
