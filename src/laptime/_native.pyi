"""The native core: trace text (Chrome / Kineto JSON) to integer columns, in one pass, and the
sweeps over sets of time (``union``, ``overlaps``, ``nest``).

Times are integer nanoseconds, converted from the decimal microseconds of the text without any
float, in the text's own clock (``baseTimeNanoseconds`` is reported in ``head``, not added).
"""

from typing import final

import numpy as np
import numpy.typing as npt

_Ids = npt.NDArray[np.uint32] | npt.NDArray[np.uint64]

@final
class Scanner:
    """Scans one trace. Feed its uncompressed text in order, in chunks of any size, then finish.

    ``max_depth``: brackets open at once inside one value (4096 at most). ``max_string_bytes``:
    longest string of an item. ``max_head_bytes``: longest value beside ``traceEvents``.
    ``max_name_table_bytes``: all distinct names together. ``max_item_bytes``: longest item; also
    what the scanner holds at most while an item is incomplete. Whatever passes a limit is lost
    and counted in ``ScanResult.losses``; nothing in the text raises. ``portable`` leaves out the
    instructions that only some machines have (AVX2): the same answer, more slowly, for tests.
    """

    def __init__(
        self,
        *,
        max_depth: int = 512,
        max_string_bytes: int = 16777216,
        max_head_bytes: int = 67108864,
        max_name_table_bytes: int = 1073741824,
        max_item_bytes: int = 67108864,
        portable: bool = False,
    ) -> None: ...
    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Scan the next bytes. Releases the GIL; RuntimeError when finished or in use."""

    def finish(self) -> ScanResult:
        """Close the scan and hand the columns over, without copying them. Only once."""

@final
class ScanResult:
    """What a trace held. Rows are in file order; flows and metadata are apart from them.

    A row comes from every item with a usable time stamp, except flows (``s`` ``t`` ``f``),
    metadata (``M``) and ends (``E``). A matched begin and end make one row of phase ``X``; a
    begin that never ended keeps phase ``B`` and gets its duration from the end of the span
    around it, or from the last time seen on its thread.
    """

    items: int
    """Items of ``traceEvents`` seen, with rejected ones; an item cut by the end is not counted."""
    text_bytes: int
    root: str
    """``object``, ``list``, or ``none``: the text is no JSON object or array (or is UTF-16)."""

    start_ns: npt.NDArray[np.int64]
    dur_ns: npt.NDArray[np.int64]
    """-1: none (instants, counters, values that were dropped)."""
    name: npt.NDArray[np.int32]
    category: npt.NDArray[np.uint16]
    lane: npt.NDArray[np.int32]
    phase: npt.NDArray[np.uint8]
    args_offset: npt.NDArray[np.uint64] | None
    """Where the row's args object begins in the uncompressed text; None when no row has args."""
    args_length: npt.NDArray[np.uint32] | None
    """Bytes of the args object, braces included; 0: the row has none."""

    correlation: _Ids | None
    external_id: _Ids | None
    python_id: _Ids | None
    python_parent: _Ids | None
    """Identifier columns: None when no row has one; a row without one holds the dtype's maximum."""

    names: list[str]
    categories: list[str]
    lanes: list[tuple[int | str | None, int | str | None, int | None, int | None]]
    """(pid, tid, device, stream); device and stream from args. Quoted pids stay strings."""
    int_args: dict[str, tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]]
    """By argument name: (ascending rows, values). ``Addr`` is a 64-bit pattern."""
    text_args: dict[str, tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32]]]
    """By argument name: (ascending rows, indices into ``texts``). Non-strings as raw JSON."""
    texts: list[str]

    flow_id: npt.NDArray[np.uint64]
    """String ids are hashed (FNV-1a, 64 bits) and counted as ``flow_ids_hashed``."""
    flow_ns: npt.NDArray[np.int64]
    flow_lane: npt.NDArray[np.int32]
    flow_phase: npt.NDArray[np.uint8]
    flow_category: npt.NDArray[np.uint16]

    meta: list[tuple[str, int | str | None, int | str | None, str]]
    """Distinct metadata items: (name, pid, tid, args.name | args.labels | args.sort_index)."""
    head: list[tuple[str, bytes, int]]
    """Top-level values beside ``traceEvents``: (key, raw JSON, byte offset)."""
    losses: list[tuple[int, str, int]]
    """(first byte offset, reason, count), one for each reason."""
    counters: dict[str, int]
    """Oddities accepted, all present (0 when not met), and ``events_by_phase:X`` as met."""

_Times = npt.NDArray[np.int64]

def union(starts: _Times, ends: _Times) -> tuple[_Times, _Times]:
    """See ``ledger.intervals.union``."""

def add_at(total: _Times, at: _Times, ns: _Times) -> None:
    """See ``ledger.sums.add_at``."""

def overlaps(
    a_starts: _Times, a_ends: _Times, b_starts: _Times, b_ends: _Times
) -> tuple[_Times, _Times, tuple[_Times, _Times]]:
    """See ``ledger.intervals.overlaps``."""

def nest(
    starts: _Times, ends: _Times, members: _Times
) -> tuple[_Times, npt.NDArray[np.int32], tuple[_Times, _Times], npt.NDArray[np.int32], bool]:
    """``order`` (places in the input), then ``around``, ``span``, ``at`` and ``crossing`` of
    ``ledger.innermost.Nest``. More than 2**31 rows raise ``RuntimeError``."""
