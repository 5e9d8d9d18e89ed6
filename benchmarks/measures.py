"""What is measured, each as the body of a process of its own.

    python -m benchmarks.measures NAME FILE

prints one JSON object: CPU seconds of all threads (user and system) and wall seconds of the
measured stretch alone, without the start of the interpreter or imports, and what was counted.
The caller measures the whole process from outside.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PIECE_BYTES = 1 << 20

Seen = dict[str, Any]


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@contextmanager
def _timed(seen: Seen) -> Iterator[None]:
    cpu, wall = _cpu_s(), time.perf_counter()
    yield
    seen["wall_s"] = time.perf_counter() - wall
    seen["cpu_s"] = _cpu_s() - cpu


def _open(path: str) -> Any:
    """The file's text: gzip through isal, zstd through zstandard, anything else as stored."""
    with open(path, "rb") as file:
        head = file.read(4)
    if head[:2] == b"\x1f\x8b":
        from isal import igzip

        opened: Any = igzip.open
        return opened(path, "rb")
    if head == b"\x28\xb5\x2f\xfd":
        import zstandard

        return zstandard.open(path, "rb")
    return open(path, "rb", buffering=0)


def unpack(path: str) -> Seen:
    """Floor a: decompress in pieces of 1 MiB into one buffer; nothing is kept."""
    seen: Seen = {}
    piece = memoryview(bytearray(PIECE_BYTES))
    text = 0
    with _open(path) as file, _timed(seen):
        while got := file.readinto(piece):
            text += got
    return seen | {"text_bytes": text}


def unpack_and_read(path: str) -> Seen:
    """Floor b: decompress, and read every byte once (counting line ends, memchr's loop)."""
    seen: Seen = {}
    piece = bytearray(PIECE_BYTES)
    view = memoryview(piece)
    text = lines = 0
    with _open(path) as file, _timed(seen):
        while got := file.readinto(view):
            text += got
            lines += piece.count(b"\n", 0, got)
    return seen | {"text_bytes": text, "lines": lines}


def scan(path: str) -> Seen:
    """Text to columns, decompression included."""
    import laptime._native as native
    from laptime.evidence.source import Source

    seen: Seen = {}
    with _timed(seen):
        scanner = native.Scanner()
        for chunk in Source(path).chunks():
            scanner.feed(chunk)
        result = scanner.finish()
    columns = sum(
        value.nbytes
        for value in (getattr(result, name) for name in dir(result) if name[0] != "_")
        if hasattr(value, "nbytes")
    )
    columns += sum(
        row.nbytes + value.nbytes
        for sparse in (result.int_args, result.text_args)
        for row, value in sparse.values()
    )
    return seen | {
        "text_bytes": result.text_bytes,
        "items": result.items,
        "column_bytes": columns,
    }


def read(path: str) -> Seen:
    """The run as the rest of laptime sees it: columns, lanes, kinds, facts."""
    from laptime.evidence.registry import open_run

    seen: Seen = {}
    with _timed(seen):
        run = open_run(path)
    return seen | {"items": run.health.items}


def nothing(path: str) -> Seen:
    """The interpreter and the imports of a scan alone; what every other figure stands on."""
    seen: Seen = {}
    with _timed(seen):
        import laptime._native
        import laptime.evidence.registry  # noqa: F401
    return seen


BODIES: dict[str, Callable[[str], Seen]] = {
    "nothing": nothing,
    "unpack": unpack,
    "unpack_and_read": unpack_and_read,
    "scan": scan,
    "read": read,
}

if __name__ == "__main__":
    json.dump(BODIES[sys.argv[1]](sys.argv[2]), sys.stdout)
