"""Laps by outermost module calls, for programs with neither an optimizer nor a loader.

Every call of every module is watched only until the outermost ones are known; then a hook on the
outermost module alone makes the laps. An optimizer, a loader or torch's compiler ends the watch:
nothing of ours may be in what the compiler reads.
"""

import functools
from _thread import get_ident
from typing import TYPE_CHECKING, Any, Dict, Optional

if TYPE_CHECKING:
    from .probe import Probe

ALIKE = 2
"""Outermost calls of one module in a row that make it the one."""
ENOUGH = 200
"""Outermost calls after which the watch ends in any case."""

_watch: Dict[str, Any] = {}


def look(probe: "Probe", base: Any) -> None:
    """Watch the calls of all modules until the outermost one is known."""
    call = base.__call__
    state = _Watch(probe)

    @functools.wraps(call)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        if state.inside is not None or state.over:
            return call(self, *args, **kwargs)
        state.inside = get_ident()
        try:
            return call(self, *args, **kwargs)
        finally:
            state.inside = None
            probe.guard(state.called, self)

    base.__call__ = called
    _watch.update(base=base, call=call, mine=called, state=state)


def leave(probe: "Probe") -> None:
    """Watch no more, and make no laps of module calls."""
    state: Optional[_Watch] = _watch.get("state")
    if state is None:
        return
    _stop()
    if state.hook is not None and probe.laps.source != "module":
        state.hook.remove()
        state.hook = None


def _stop() -> None:
    state = _watch["state"]
    state.over = True
    if _watch["base"].__call__ is _watch["mine"]:
        _watch["base"].__call__ = _watch["call"]


class _Watch:
    """What the watch has seen."""

    def __init__(self, probe: "Probe") -> None:
        self.probe = probe
        self.inside: Optional[int] = None
        self.over = False
        self.hook: Any = None
        self._last: Optional[int] = None
        self._alike = self._seen = 0

    def called(self, module: Any) -> None:
        """An outermost call has returned."""
        if self.over:
            return
        self._seen += 1
        self._alike = self._alike + 1 if id(module) == self._last else 1
        self._last = id(module)
        if self._alike >= ALIKE:
            _stop()
            self.hook = module.register_forward_pre_hook(self._before)
        elif self._seen >= ENOUGH:
            _stop()

    def _before(self, *_: Any) -> None:
        self.probe.guard(self.probe.laps.boundary, "module")
