"""Writing built traces: plain, gzip in one or several members, zstd, and folders of ranks."""

from __future__ import annotations

import gzip as gzip_module
from collections.abc import Callable
from pathlib import Path

import zstandard

from tests.builder.trace import TraceBuilder


def write_text(
    path: Path | str, text: str, *, gzip: bool = False, members: int = 1, zstd: bool = False
) -> Path:
    """Write a trace's text; gzip output does not depend on the time of day."""
    target = Path(path)
    raw = text.encode()
    if gzip:
        step = -(-len(raw) // max(members, 1)) or 1
        parts = [raw[at : at + step] for at in range(0, len(raw), step)]
        raw = b"".join(gzip_module.compress(p, compresslevel=6, mtime=0) for p in parts)
    elif zstd:
        raw = zstandard.ZstdCompressor(level=3).compress(raw)
    target.write_bytes(raw)
    return target


def write_ranks(
    folder: Path | str, ranks: int, build: Callable[[int, int], TraceBuilder], *, gzip: bool = True
) -> list[Path]:
    """Write one file for each rank: ``build(rank, world_size)`` makes it. Gives the paths."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    ending = ".json.gz" if gzip else ".json"
    return [
        build(rank, ranks).write(target / f"rank-{rank}.pt.trace{ending}", gzip=gzip)
        for rank in range(ranks)
    ]
