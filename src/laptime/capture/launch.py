"""Run the user's program with the probe, watch it, and close the capture's folder."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from laptime.capture import environment, folder, signals
from laptime.capture.command import Command
from laptime.capture.sampler import Sampler
from laptime.capture.settings import CaptureSettings
from laptime.model.errors import UsageError

PROBE = Path(__file__).with_name("probe")
VARIABLE = "LAPTIME_PROBE"
_TICK_S = 0.1
_STOP_S = 10.0
"""From the request to stop to the one that cannot be refused, with ``then="stop"``."""
_REST_S = 5.0
"""For processes that a stopped program left behind, between the request and the kill."""
_ENDED = ("recorded", "given_up", "counting")


@dataclass
class Outcome:
    """How the program ended and what was captured.

    ``stopped``: laptime ended it, as asked. ``problems`` are lines for the user.
    """

    folder: Path
    code: int
    stopped: bool
    problems: list[str] = field(default_factory=list)

    @property
    def signal(self) -> int | None:
        """The signal that ended the program; None where it ended by itself."""
        return -self.code if self.code < 0 else None


def run(command: Command, settings: CaptureSettings, place: Path, version: str) -> Outcome:
    """Run the command to its end. Raises ``UsageError`` where it cannot be started."""
    told: dict[str, Any] = {
        "argv": list(command.argv),
        **environment.facts(),
        **{f"started_{k}": v for k, v in folder.clock().items()},
        "laptime_version": version,
        "settings": settings.as_json(),
    }
    folder.write(place, told)
    try:
        child = signals.start(command.argv, _environment(settings, place))
    except OSError as error:
        raise UsageError(
            f"{command.argv[0]}: cannot be started: {error.strerror or error}"
        ) from None
    sampler = Sampler(child.pid, place).start()
    watch = _Watch(child, place, settings)
    try:
        code = signals.wait(child, watch.tick, _TICK_S)
        watch.end_rest()
    finally:
        report = sampler.stop()
    problems = folder.compress(place)
    problems += folder.problems(folder.processes(place), command.shut)
    told.update(
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        stopped=watch.stopped,
        **{f"ended_{k}": v for k, v in folder.clock().items()},
        problems=[*problems, *report.problems],
    )
    try:
        folder.write(place, told)
    except OSError as error:  # the program has run, and its end is what counts
        problems.append(f"{place}: the recording is not whole: {error.strerror or error}")
    signals.release()
    return Outcome(place, code, watch.stopped, problems)


def _environment(settings: CaptureSettings, place: Path) -> dict[str, str]:
    env = dict(os.environ)
    before = env.get("PYTHONPATH")
    env["PYTHONPATH"] = os.pathsep.join([str(PROBE), *([before] if before else [])])
    env[VARIABLE] = settings.for_probe(str(place))
    return env


def _carries(pid: int, place: Path) -> bool:
    """Whether a process that lives has the probe's settings of this capture."""
    try:
        env = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return f"dir={place}\n".encode() in env


class _Watch:
    """What the launcher does while the program runs, beside waiting for it."""

    def __init__(
        self, child: subprocess.Popen[bytes], place: Path, settings: CaptureSettings
    ) -> None:
        self._child, self._place = child, place
        self._stops = settings.then == "stop"
        self._seen: dict[Path, int] = {}
        self._said: dict[Path, Mapping[str, Any]] = {}
        self._kill_at: float | None = None
        self.stopped = False

    def tick(self) -> None:
        """Read what changed; end what takes too long to end, and the program when it is time."""
        self._read()
        self._hurry()
        if self._stops and not self.stopped and self._all_done():
            self.stopped = True
            self._kill_at = time.monotonic() + _STOP_S
            self._child.send_signal(signal.SIGTERM)
        if self._kill_at is not None and time.monotonic() > self._kill_at:
            self._child.kill()
            self._kill_at = None

    def end_rest(self) -> None:
        """Where the program was stopped: end what it had started and left behind."""
        if not self.stopped:
            return
        self._read()
        pids = [said["pid"] for said in self._said.values()]
        for number in (signal.SIGTERM, signal.SIGKILL):
            until = time.monotonic() + _REST_S
            left = [pid for pid in pids if _carries(pid, self._place)]
            for pid in left:
                try:
                    os.kill(pid, number)
                except OSError:
                    continue
            while any(_carries(pid, self._place) for pid in left) and time.monotonic() < until:
                time.sleep(_TICK_S)

    def _read(self) -> None:
        for said in folder.changed(self._place, self._seen):
            self._said[self._place / f"p{said['pid']}"] = said

    def _hurry(self) -> None:
        """A process that writes its trace before it dies of a signal has a few seconds for it."""
        now = time.monotonic_ns()
        for place, said in list(self._said.items()):
            dying = said.get("dying")
            if isinstance(dying, dict) and now > dying["by_mono_ns"]:
                del self._said[place]
                try:
                    os.kill(said["pid"], dying["signal"])
                except OSError:
                    continue

    def _all_done(self) -> bool:
        """Whether every process that has laps has recorded its window, or will not."""
        states = [s.get("state") for s in self._said.values() if s.get("role") == "trainer"]
        return bool(states) and all(state in _ENDED for state in states)
