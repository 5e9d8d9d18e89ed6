"""Laps as they pass, and when to record: warm-up, plain laps, the window, plain laps again."""

import time
from _thread import get_ident, get_native_id
from typing import TYPE_CHECKING, Any, List, Optional

from . import facts
from .items import Items

if TYPE_CHECKING:
    from .probe import Probe

STRENGTH = {"module": 0, "loader": 1, "optimizer": 2, "mark": 3}
"""A stronger source takes over from a weaker one, until the window opens."""

PATIENCE = 64
"""Loader batches to wait for an optimizer that exists but has not stepped: an evaluation, or a
check of it, before the training begins."""

UNWRITTEN_NS = 100_000_000
"""Length of the laps that may be noted only: as much is not written where the process is killed."""

DISTURBED = 2
"""Laps after the window that are not plain: what the recording left behind still shows."""

_PHASE = {
    "warming": "warmup",
    "plain": "plain",
    "waiting": "plain",
    "preparing": "warmup",
    "recording": "recorded",
    "after": "after",
    "plain again": "plain",
}
"""The phase written of a lap, by the stage in which it passed."""


_LAP = '{"n":%d,"start":%d,"end":%d,"phase":"%s","items":'
_NO_ITEMS = _LAP + 'null,"unit":null}\n'
_SAMPLES = _LAP + '%d,"unit":"samples"}\n'
_TOKENS = _LAP + '%d,"unit":"samples","tokens":%d}\n'


class Laps:
    """The laps of this process. ``boundary`` ends one and begins the next."""

    def __init__(self, probe: "Probe") -> None:
        self.probe = probe
        self.source: Optional[str] = None
        self.thread = 0
        self.stage = "warming"
        self.passed = 0
        """Laps passed in this stage."""
        self.number = 0
        self.start: Optional[int] = None
        self.items = Items()
        self.quick = 0
        """Laps that may pass the quick way: their ends and batches are noted, and written later."""
        self.noted: List[Any] = []
        """Ends (ns) and batches (``Feed``, what it read) of laps that passed so, in order."""
        self.length = 0
        self.disturbed = False
        """A profiler of the program's was armed, or ran, in the lap that is open."""
        self.busy = False
        """Within a boundary: nothing else may end the window meanwhile."""

    def boundary(self, source: str, opens: bool = True) -> None:
        """A lap ends here, and the next begins unless ``opens`` is false (an epoch's end)."""
        now = time.monotonic_ns()
        if self.stage == "done":
            return
        me = get_ident()
        if self.quick > 0 and opens and source == self.source and me == self.thread:
            self.quick -= 1
            self.noted.append(now)
            return
        if source != self.source:
            if not self._take(source, me):
                return
        elif me != self.thread:
            return
        self.busy = True
        try:
            self._pass(now, opens)
        finally:
            self.busy = False

    def catch_up(self) -> None:
        """Write the laps that passed the quick way."""
        self.quick = 0
        many = len(self.noted)
        lines = []
        for one in self.noted[:many]:
            if isinstance(one, tuple):
                feed, shown = one
                self.items.came(feed.key, *feed.counts(shown))
            else:
                lines.append(self._line(one, _PHASE[self.stage]))
        # Another thread may note a batch meanwhile: the list stays the same.
        del self.noted[:many]
        if lines:
            self.probe.folder.text("laps.jsonl", "".join(lines))
            self.probe.collector.flush()

    def unsettle(self) -> None:
        """A profiler of the program's is armed in the lap that is open. Any thread may say so."""
        self.quick = 0
        self.disturbed = True

    def _pass(self, now: int, opens: bool) -> None:
        self.catch_up()
        if self.probe.gate.wanted:
            self.cut(self.probe.gate.REASON)
        slow = False
        if self.start is not None:
            self._close(now)
            slow = self._advance()
        if self.stage == "done":
            return
        self.start = None
        if opens:
            self.disturbed = self.probe.gate.armed_now()
            self.start = time.monotonic_ns() if slow else now
            if self.stage == "recording":
                self.probe.recorder.begin(self.number)
            elif self.length and not self.disturbed:
                self.quick = self._ahead()

    def _ahead(self) -> int:
        """How many laps may pass the quick way: none of them ends the stage, and what is lost of
        them where the process is killed is short."""
        asked = self.probe.settings
        stages = {"warming": asked.warmup, "plain": asked.plain, "plain again": asked.plain}
        left = stages.get(self.stage, 0) - self.passed - 1
        return max(0, min(left, UNWRITTEN_NS // self.length))

    def cut(self, reason: str) -> None:
        """End the window now, in the middle of a lap; keep it where a whole lap is in it."""
        recorder = self.probe.recorder
        if not recorder.active:
            return
        self.catch_up()
        if self.stage == "recording" and self.passed:
            recorder.keep(self.passed, reason)
            self._enter("after")
        else:
            recorder.drop()
            self._enter("waiting")
            self.probe.folder.write(state="counting", reason=reason)
        self.start = None

    def _take(self, source: str, thread: int) -> bool:
        wanted = self.probe.settings.laps_from
        if wanted not in ("auto", source):
            return False
        if self.source is not None:
            open_still = self.stage in ("warming", "plain", "waiting")
            if STRENGTH[source] <= STRENGTH[self.source] or not open_still:
                return False
        if self.number:
            self.probe.folder.empty("laps.jsonl")
        self.quick = self.length = 0
        del self.noted[:]
        self.source, self.thread = source, thread
        self.number, self.start = 0, None
        if source != "loader":
            self.items = Items()
        self._enter("warming" if self.probe.settings.warmup else "plain")
        self.probe.folder.write(
            role="trainer", state="warming", lap_source=source, tid=get_native_id(), **facts.rank()
        )
        return True

    def _close(self, end: int) -> None:
        """Write the lap that ends."""
        if self.stage == "recording":
            self.probe.recorder.end()
        disturbed = self.disturbed or self.probe.gate.armed_now()
        phase = "after" if disturbed else _PHASE[self.stage]
        self.probe.folder.text("laps.jsonl", self._line(end, phase))
        self.probe.collector.flush()

    def _line(self, end: int, phase: str) -> str:
        """The line of the lap that ends then; the next one begins there."""
        start = self.start or end
        samples, tokens = self.items.close(self.number)
        if samples is None:
            text = _NO_ITEMS % (self.number, start, end, phase)
        elif tokens is None:
            text = _SAMPLES % (self.number, start, end, phase, samples)
        else:
            text = _TOKENS % (self.number, start, end, phase, samples, tokens)
        self.start, self.length = end, max(1, end - start)
        self.number += 1
        self.passed += 1
        return text

    def _advance(self) -> bool:
        """Go on to the next stage where this one is over; whether that took a while."""
        asked = self.probe.settings
        if self.stage == "warming" and self.passed >= asked.warmup:
            self._enter("plain")
        if self.stage == "plain" and self.passed >= asked.plain:
            self._enter("waiting")
        if self.stage == "waiting":
            return self._open()
        if self.stage == "preparing":
            self.probe.recorder.start(self.number)
            self._enter("recording")
            return True
        if self.stage == "recording" and self.passed >= asked.laps:
            self.probe.recorder.keep(self.passed, None)
            self._enter("after")
            return True
        if self.stage == "after" and self.passed >= DISTURBED:
            self._enter("plain again")
        elif self.stage == "plain again" and self.passed >= asked.plain:
            self._enter("done")
        return False

    def _open(self) -> bool:
        """Prepare the recorder, if the program's own profiler leaves room and laps are settled."""
        probe = self.probe
        if probe.settings.laps == 0:
            self._enter("done")
            probe.folder.write(state="counting", reason="no window was asked for")
            return False
        if probe.gate.exported is not None:
            self._enter("plain again")
            probe.folder.write(state="counting", reason=probe.gate.TAKEN)
            return False
        if self.source == "loader" and probe.optimizer_made and self.passed < PATIENCE:
            return False
        if not probe.recorder.prepare():
            if probe.folder.process["state"] != "counting":
                probe.folder.write(state="counting", reason=probe.gate.REASON)
            return False
        self._enter("preparing")
        return True

    def _enter(self, stage: str) -> None:
        self.stage, self.passed = stage, 0
        if stage in ("plain", "plain again"):
            self.probe.collector.start()
        elif stage == "done":
            self.probe.collector.stop()
            self.start = None
            self.probe.let_go()
