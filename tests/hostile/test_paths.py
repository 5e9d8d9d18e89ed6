"""Hostile paths, streams and arguments, through the real command line."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from tests.hostile.pieces import events, trace
from tests.hostile.running import Outcome, check_common, laptime_on, the_object

SOUND = trace(events())


def explain(folder: Path, *arguments: object, stdin: str = "/dev/null") -> Outcome:
    outcome = laptime_on(folder, [str(a) for a in arguments], stdin=stdin)
    check_common(outcome)
    return outcome


def test_no_such_file(tmp_path: Path) -> None:
    outcome = explain(tmp_path, tmp_path / "absent.json")
    assert outcome.code == 2
    assert "absent.json: no such file; check the path" in outcome.err


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_devices_are_not_read(tmp_path: Path, device: str) -> None:
    outcome = explain(tmp_path, device)
    assert outcome.code == 2
    assert f"{device}: not a regular file" in outcome.err


def test_fifo_that_nobody_writes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    outcome = explain(tmp_path, tmp_path / "fifo")
    assert outcome.code == 2
    assert "not a regular file; pipe it in" in outcome.err


def test_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has 107 bytes at most
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert explain(tmp_path, "socket").code == 2


def test_endless_stdin_that_is_no_trace(tmp_path: Path) -> None:
    outcome = explain(tmp_path, "-", stdin="/dev/zero")
    assert outcome.code == 5
    assert "stdin: looks like nothing but zero bytes" in outcome.err


@pytest.mark.parametrize("flag", ["--json", "--no-spill"])
def test_stdin(tmp_path: Path, flag: str) -> None:
    (tmp_path / "t").write_bytes(SOUND)
    assert explain(tmp_path, "-", flag, stdin=str(tmp_path / "t")).code == 0
    (tmp_path / "t").write_bytes(SOUND[:100])
    assert explain(tmp_path, "-", flag, stdin=str(tmp_path / "t")).code == 5


def test_empty_stdin(tmp_path: Path) -> None:
    assert "stdin: is empty" in explain(tmp_path, "-").err


def test_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert explain(tmp_path, tmp_path / "a").code in (2, 5)


def test_folder_with_links_to_itself(tmp_path: Path) -> None:
    folder = tmp_path / "ranks"
    folder.mkdir()
    (folder / "again").symlink_to(folder)
    (folder / "gone").symlink_to(folder / "absent")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / "rank0.json").write_bytes(SOUND)
    outcome = explain(tmp_path, folder, "--json")
    assert outcome.code == 0
    assert len({d["id"] for d in the_object(outcome.out)["devices"]}) == 1


def test_folder_without_traces(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert "holds no evidence" in explain(tmp_path, folder).err
    (folder / "notes.txt").write_text("hello\n")
    (folder / "data.json").write_text('{"a": 1}')
    outcome = explain(tmp_path, folder)
    assert outcome.code == 5
    assert "holds no evidence; for example" in outcome.err


def test_folder_with_one_damaged_rank(tmp_path: Path) -> None:
    folder = tmp_path / "ranks"
    folder.mkdir()
    (folder / "rank0.pt.trace.json").write_bytes(SOUND)
    (folder / "rank1.pt.trace.json").write_bytes(SOUND[:40])
    (folder / "rank2.pt.trace.json").write_bytes(SOUND[: len(SOUND) // 2])
    outcome = explain(tmp_path, folder, "--json")
    assert outcome.code == 0
    health = the_object(outcome.out)["health"]
    assert any("skipped" in w and "rank1" in w for w in health["warnings"])
    assert any("lost" in w and "rank2" in w for w in health["warnings"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_not_permitted(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(SOUND)
    (tmp_path / "t.json").chmod(0)
    outcome = explain(tmp_path, tmp_path / "t.json")
    assert outcome.code == 5
    assert "permission denied; make it readable" in outcome.err


NAMES = ["a\nb.json", "\x1b[31mred\x07.json", "[bold]x[/].json", "<img src=x>.json", "--json.json"]
NAMES += ["\u202egnp.json", "b\udcffad.json", "n" * 250, " .json", "%s{0}$(id).json", "a::b.json"]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_of_files(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    try:
        (folder / name).write_bytes(SOUND)
    except OSError:
        pytest.skip("the file system does not take this name")
    for extra in (["--json", "--html", tmp_path / "page.html"], ["--width", "80"]):
        assert explain(tmp_path, folder / name, *extra).code == 0
    (folder / name).write_bytes(b"")
    outcome = explain(tmp_path, folder / name)
    assert outcome.code == 5
    assert "is empty (0 bytes)" in outcome.err


LAPS = ["((", "[", "*", "?", "", "\x1b[31m", "a" * 100_000, "[[[*", "ProfilerStep#2", "aten::*"]
LAPS += ["*" * 300 + "x", "[!]", "\u202e", "NVTX:"]


def _most_slow(values: list[str], quick: int) -> list[object]:
    return [
        pytest.param(v, marks=[pytest.mark.slow] if i >= quick else [])
        for i, v in enumerate(values)
    ]


@pytest.mark.parametrize("lap", _most_slow(LAPS, 4), ids=lambda lap: ascii(lap[:20]))
def test_names_of_laps(tmp_path: Path, lap: str) -> None:
    (tmp_path / "t.json").write_bytes(SOUND)
    outcome = explain(tmp_path, tmp_path / "t.json", f"--lap={lap}", "--json")
    assert outcome.code in (0, 2)
    if outcome.code == 0:
        the_object(outcome.out)


def test_page_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(SOUND)
    outcome = explain(tmp_path, tmp_path / "t.json", "--html", tmp_path / "no" / "page.html")
    assert outcome.code == 2
    assert "cannot be written" in outcome.err


@pytest.mark.parametrize("change", ["grow", "cut", "rewrite", "unlink"])
def test_file_that_changes_while_it_is_read(tmp_path: Path, change: str) -> None:
    path, data = tmp_path / "t.json", trace(events(4000))
    path.write_bytes(data)
    done = threading.Event()

    def work() -> None:
        n = 0
        while not done.is_set():
            n += 1
            if change == "grow":
                with path.open("ab") as file:
                    file.write(b" " * 4096)
            elif change == "cut":
                os.truncate(path, max(len(data) - n * 100_000, 10))
            elif change == "rewrite":
                path.write_bytes(data[: 1 + len(data) // (1 + n % 7)])
            elif path.exists() and n == 60:
                path.unlink()
            time.sleep(0.01)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        outcome = explain(tmp_path, path, "--json")
    finally:
        done.set()
        worker.join()
    assert outcome.code in (0, 2, 5)
    if outcome.code == 0:
        the_object(outcome.out)
