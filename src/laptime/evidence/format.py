"""What a format is: one module of this folder that defines ``FORMAT``.

The registry finds it by listing the folder. ``sniff`` sees the first bytes of the uncompressed
text and the file's name, and must be cheap; ``read`` streams ``source.chunks()`` once and returns
a ``Part``. ``Rows.read_args`` of the part should be an ``ArgReader`` (``args.py``): it can be
carried between processes, so that files of one job may be read in several.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from laptime.model.run import Part

if TYPE_CHECKING:
    from laptime.evidence.source import Source

HEAD_BYTES = 64 << 10
"""How much uncompressed text ``sniff`` is given (less where the text is shorter)."""

Progress: TypeAlias = Callable[[str, int, "int | None"], None]
"""``progress(source_name, read_bytes, total_bytes)``: stored (compressed) bytes read so far and
in all; the total is None where it is not known (stdin). Called every few MB, from the thread
that reads; must return quickly and must not raise."""


@dataclass(frozen=True)
class Match:
    """How surely a format recognises the head of a file: 0 (not at all) to 1, and why."""

    confidence: float
    why: str


@runtime_checkable
class Format(Protocol):
    """A format that laptime reads."""

    @property
    def id(self) -> str:
        """Stable name of the format, e.g. ``kineto``."""
        ...

    @property
    def title(self) -> str:
        """What a user calls it, e.g. ``PyTorch profiler trace (Kineto JSON)``."""
        ...

    def sniff(self, head: bytes, name: str) -> Match:
        """Say how well the first ``HEAD_BYTES`` of text and the file's name fit."""
        ...

    def read(self, source: Source, progress: Progress | None) -> Part:
        """Read the whole source once.

        What the source lost on the way (``source.losses``, complete once its chunks are used
        up) goes into the part's health. Raises ``UnreadableInput`` only where nothing can be
        told; a damaged file gives a part with losses.
        """
        ...
