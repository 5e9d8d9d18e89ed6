"""Texts and stored forms for the tests of sources."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import zstandard


def trace_text(events: int, seed: int = 1) -> bytes:
    """Trace-like text whose lines do not repeat."""
    rnd = random.Random(seed)
    lines = [
        json.dumps(
            {
                "ph": "X",
                "cat": "cpu_op",
                "name": f"aten::op{rnd.randrange(200)}",
                "ts": 1_700_000_000_000 + 7 * i + rnd.random(),
                "dur": rnd.random(),
                "args": {"External id": i, "w": rnd.randrange(1 << 30), "s": "ä" * (i % 5)},
            }
        )
        for i in range(events)
    ]
    return ('{"traceEvents": [\n' + ",\n".join(lines) + "\n]}\n").encode()


def arg_spans(text: bytes) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Offsets and lengths of the arguments."""
    spans = [m.span(1) for m in re.finditer(rb'"args": (\{[^}]*\})', text)]
    offset = np.array([a for a, _ in spans], dtype=np.uint64)
    return offset, np.array([b - a for a, b in spans], dtype=np.uint32)


def members(text: bytes, size: int, level: int = 6) -> bytes:
    """gzip in members of ``size`` bytes of text."""
    return b"".join(
        gzip.compress(text[i : i + size], level, mtime=0) for i in range(0, len(text), size)
    )


def frames(text: bytes, size: int) -> bytes:
    """zstd in frames of ``size`` bytes of text, with checksums."""
    compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)
    return b"".join(compressor.compress(text[i : i + size]) for i in range(0, len(text), size))


def whole(chunks: Iterable[bytes]) -> bytes:
    """All chunks together; none may be empty."""
    parts = list(chunks)
    assert all(parts)
    return b"".join(parts)
