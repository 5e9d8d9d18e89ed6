"""The program ends inside the window: as without laptime, with the window kept where it can be."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest

import laptime
from tests.capture import running
from tests.capture.running import Ran

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)
slow = pytest.mark.slow
NOTES = "laptime: "


def without_notes(err: str) -> str:
    return "".join(line for line in err.splitlines(True) if not line.startswith(NOTES))


def ended(folder: Path, how: str) -> Ran:
    """Run under laptime, and check that it ended as it does alone."""
    words = [running.program("endings"), how]
    before = running.alone(words)
    ran = running.run(folder, words, ["--no-explain"])
    assert (ran.code, ran.out) == (before.returncode, before.stdout)
    assert without_notes(ran.err) == before.stderr
    return ran


def lap_marks(ran: Ran) -> list[str]:
    (path,) = ran.folder.glob("p*/trace.json.gz")
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    names = [str(e.get("name")) for e in events]
    return [n for n in names if n.startswith("ProfilerStep#")]


KEPT = {
    "exception": (1, "ValueError"),
    "exit": (3, "ended inside the window"),
    "interrupt": (-2, "Ctrl-C"),
    "terminate": (-15, "SIGTERM"),
    "terminate handled": (5, "ended inside the window"),
}


@pytest.mark.parametrize(
    "how", ["terminate", *(pytest.param(h, marks=slow) for h in KEPT if h != "terminate")]
)
def test_window_is_kept(tmp_path: Path, how: str) -> None:
    ran = ended(tmp_path / "run", how)
    code, reason = KEPT[how]
    assert ran.code == code
    (trainer,) = ran.trainers
    assert trainer["state"] == "recorded"
    assert reason in trainer["reason"]
    # Steps 0 to 18 make laps 0 to 17 (the first step opens lap 0); the window opens at lap 16.
    assert trainer["window"]["laps"] == 2
    assert lap_marks(ran) == ["ProfilerStep#16", "ProfilerStep#17"]
    assert ran.capture["exit_code"] == (code if code >= 0 else None)
    assert ran.capture["signal"] == (-code if code < 0 else None)


@slow
@pytest.mark.parametrize(("how", "code"), [("os._exit", 4), ("kill", -9), ("abort", -6)])
def test_lost_window_is_told(tmp_path: Path, how: str, code: int) -> None:
    ran = ended(tmp_path / "run", how)
    assert ran.code == code
    (trainer,) = ran.trainers
    assert trainer["state"] == "recording"
    (problem,) = ran.capture["problems"]
    assert problem == f"process {trainer['pid']}: its window is lost: it ended while recording"
    # Laps and host counters of before can be read.
    assert ran.phases(trainer)[:2] == [("warmup", 5), ("plain", 10)]
    assert (ran.folder / "host.jsonl").stat().st_size > 0


@slow
@pytest.mark.parametrize(("how", "code"), [("exception", 1), ("interrupt", -2), ("terminate", -15)])
def test_window_that_takes_long_to_write_is_given_up(tmp_path: Path, how: str, code: int) -> None:
    begin = time.monotonic()
    ran = running.run(tmp_path / "run", [running.program("slow_export"), how], ["--no-explain"])
    assert ran.code == code
    (trainer,) = ran.trainers
    assert trainer["state"] == "exporting"
    (line,) = [x for x in ran.err.splitlines() if "window is lost" in x]
    assert line == f"{NOTES}process {trainer['pid']}: its window is lost: it ended while exporting"
    assert time.monotonic() - begin < 40  # 5 s for the trace, the rest is the start and the laps
    assert 4.5e9 < ran.capture["ended_mono_ns"] - trainer["window"]["end_mono_ns"] < 9e9


@slow
@pytest.mark.parametrize("launcher", ["lives", "is killed"])
def test_finished_window_and_counters_outlive_a_kill(tmp_path: Path, launcher: str) -> None:
    program = tmp_path / "after.py"
    program.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(running.PROGRAMS)!r})\n"
        "from endings import main\n"
        "main('kill' if sys.argv[1] == 'lives' else 'wait', 45)\n"
    )
    words = [str(program), launcher]
    if launcher == "lives":
        ran = running.run(tmp_path / "run", words, ["--no-explain"])
        assert ran.code == -9
    else:
        process = subprocess.Popen(
            running.command(tmp_path / "run", ["--no-explain"], words),
            stdout=subprocess.PIPE,
            text=True,
            env=running.environment(),
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "at 45\n"
        process.kill()
        ran = Ran(process.wait(), "", "", tmp_path / "run")
        os.kill(ran.trainers[0]["pid"], signal.SIGKILL)
    (trainer,) = ran.trainers
    assert trainer["state"] == "recorded"
    answer = laptime.explain(laptime.open(ran.folder))
    (view,) = answer.views
    assert len(view.ledger.laps.laps) == 5
    (capture,) = answer.run.captures
    assert capture.counters is not None
    assert len(capture.counters.at_ns) > 3
    assert trainer["pid"] in capture.counters.processes
    said = " ".join(answer.run.health.warnings)
    assert ("launcher was killed" in said) == (launcher == "is killed")


@slow
def test_lost_window_is_reported_from_the_folder(tmp_path: Path) -> None:
    ran = running.run(tmp_path / "run", [running.program("endings"), "kill"], ["--no-explain"])
    run = laptime.open(ran.folder)
    lost = [loss.reason for loss in run.health.losses]
    pid = ran.trainers[0]["pid"]
    assert lost == [
        f"window of process {pid} was lost: it ended while recording (the program was ended by "
        "signal 9)"
    ]
    (capture,) = run.captures
    assert capture.counters is not None


def wait_for(folder: Path, text: str) -> None:
    """Wait until the program has told that state."""
    limit = time.monotonic() + running.LIMIT_S
    while time.monotonic() < limit:
        if any(text in p.read_text() for p in folder.glob("p*/process.json")):
            return
        time.sleep(0.05)
    raise AssertionError(f"no process told {text}")


def started(folder: Path, how: str) -> subprocess.Popen[str]:
    words = [running.program("endings"), how]
    return subprocess.Popen(
        running.command(folder, ["--no-explain"], words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=running.environment(),
    )


@slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_to_the_launcher_reach_the_program(tmp_path: Path, number: signal.Signals) -> None:
    process = started(tmp_path / "run", "wait")
    assert process.stdout is not None
    assert process.stdout.readline() == "at 19\n"
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == -number
    (said,) = [json.loads(p.read_text()) for p in (tmp_path / "run").glob("p*/process.json")]
    # Nothing of ours stands in for SIGHUP: it ends the program at once.
    assert said["state"] == ("recording" if number == signal.SIGHUP else "recorded")


@slow
def test_ctrl_c_on_a_terminal_comes_once(tmp_path: Path) -> None:
    """The terminal sends it to the whole group: the launcher must not send it again."""
    program = tmp_path / "counting.py"
    program.write_text(
        "import os, signal, time\n"
        "seen = []\n"
        "signal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "print('tty', os.isatty(0), os.isatty(1), flush=True)\n"
        "end = time.monotonic() + 3\n"
        "while time.monotonic() < end:\n"
        "    time.sleep(0.05)\n"
        "print('seen', len(seen), flush=True)\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        argv = running.command(tmp_path / "run", ["--no-explain"], [str(program)])
        os.execvpe(argv[0], argv, running.environment())
    text = b""
    while b"tty" not in text:
        text += os.read(terminal, 1000)
    time.sleep(0.5)
    os.write(terminal, b"\x03")
    try:
        while chunk := os.read(terminal, 1000):
            text += chunk
    except OSError:  # the other end has closed
        pass
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert b"tty True True" in text
    assert b"seen 1\r\n" in text
    assert os.waitstatus_to_exitcode(status) == 0


@slow
def test_killed_launcher_leaves_the_program_and_whole_lines(tmp_path: Path) -> None:
    process = started(tmp_path / "run", "nothing")
    wait_for(tmp_path / "run", '"warming"')
    process.kill()
    out, _ = process.communicate(timeout=60)
    assert out.endswith("to the end\n")
    for path in (tmp_path / "run").glob("p*/*.jsonl"):
        for line in path.read_text().splitlines():
            json.loads(line)
