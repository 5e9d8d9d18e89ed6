"""Painting: each instant of a device's windows goes to the first layer that has it.

Blocks of time are painted one after another. What is kept of each is its stretches and what they
add to the windows they lie in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from laptime.ledger import intervals
from laptime.ledger.accounts import Account
from laptime.ledger.intervals import Span
from laptime.ledger.ledger import DeviceLedger, Segments
from laptime.model.laps import DeviceLap
from laptime.model.rows import I64, Ints

Layer = tuple[str, Span]


@dataclass
class _Stretches:
    """Stretches of one block. ``end_ns`` is None where each ends with the start of the next, the
    last at ``until_ns``."""

    start_ns: I64
    account: Ints
    until_ns: int
    end_ns: I64 | None

    def prolong(self, until_ns: int) -> None:
        """Let the last stretch end later."""
        self.until_ns = until_ns


class Canvas:
    """The windows of one device, painted from the earliest block to the latest.

    Every block must have the same layers in the same order (with nothing in them where need be):
    a stretch that a cut between two blocks divides is one again if both halves are of one layer.
    """

    def __init__(self, windows: Sequence[DeviceLap], leaves: Sequence[Account]) -> None:
        self.windows, self.leaves = windows, leaves
        self._low = np.array([w.start_ns for w in windows], dtype=np.int64)
        self._high = np.array([w.end_ns for w in windows], dtype=np.int64)
        self._ordered = not any(
            a.start_ns > b.start_ns or a.end_ns > b.end_ns for a, b in pairwise(windows)
        )
        self.inside = intervals.union(self._low, self._high)
        self._column = {a.id: j for j, a in enumerate(leaves)}
        self._ns = np.zeros((len(windows), len(leaves)), dtype=np.int64)
        self._blocks: list[_Stretches] = []
        self._last: tuple[int, int] | None = None
        """End and layer of the last stretch."""

    def paint(self, inside: Span, layers: Sequence[Layer]) -> None:
        """Paint the next block. ``inside``: its part of the windows."""
        starts: list[I64] = []
        ends: list[I64] = []
        of: list[Ints] = []
        touched = self._touched(inside)
        left = inside
        for number, (account, span) in enumerate(layers):
            hit = intervals.intersect(left, span)
            if len(hit[0]) == 0:
                continue
            left = intervals.subtract(left, hit)
            self._ns[touched, self._column[account]] += intervals.by_window(
                hit, self._low[touched], self._high[touched]
            )
            starts.append(hit[0])
            ends.append(hit[1])
            of.append(np.full(len(hit[0]), number, dtype=np.int8))
        if starts:
            order = np.argsort(np.concatenate(starts), kind="stable")
            columns = np.array([self._column[a] for a, _ in layers], dtype=np.int8)
            layer = np.concatenate(of)[order]
            self._add(np.concatenate(starts)[order], np.concatenate(ends)[order], layer, columns)

    def _touched(self, inside: Span) -> slice:
        """Which windows a block can add to."""
        if not self._ordered or len(inside[0]) == 0:
            return slice(0, len(self.windows))
        return slice(
            int(np.searchsorted(self._high, inside[0][0], side="right")),
            int(np.searchsorted(self._low, inside[1][-1])),
        )

    def _add(self, start: I64, end: I64, layer: Ints, columns: Ints) -> None:
        first, last = (int(start[0]), int(layer[0])), (int(end[-1]), int(layer[-1]))
        account = columns[layer]
        if self._last == first:
            self._blocks[-1].prolong(int(end[0]))
            start, end, account = start[1:], end[1:], account[1:]
        self._last = last
        if len(start):
            whole = bool((start[1:] == end[:-1]).all())
            self._blocks.append(_Stretches(start, account, int(end[-1]), None if whole else end))

    def segments(self) -> Segments:
        """All stretches, which the canvas then no longer has.

        Where they cover time without a hole, ends and starts are one array.
        """
        blocks, self._blocks, self._last = self._blocks[::-1], [], None
        count = sum(len(block.account) for block in blocks)
        whole = all(block.end_ns is None for block in blocks)
        whole &= all(b.until_ns == int(a.start_ns[0]) for a, b in pairwise(blocks))
        edges = np.empty(count + 1, dtype=np.int64)
        start, end = edges[:-1], edges[1:]
        if not whole:
            end = np.empty(count, dtype=np.int64)
        account = np.empty(count, dtype=np.int8)
        at = 0
        while blocks:
            block = blocks.pop()
            part = slice(at, at + len(block.account))
            start[part], account[part] = block.start_ns, block.account
            if block.end_ns is not None:
                end[part] = block.end_ns
            else:
                end[at : part.stop - 1] = block.start_ns[1:]
            end[part.stop - 1] = block.until_ns
            at = part.stop
        return Segments(start, end, account)

    def ledger(
        self,
        device: str,
        merged: Mapping[str, Sequence[str]],
        notes: Sequence[str],
        tree: Sequence[Account],
        cpu: bool = False,
    ) -> DeviceLedger:
        """The ledger of what was painted."""
        return DeviceLedger(
            device=device,
            cpu=cpu,
            leaves=self.leaves,
            tree=tree,
            windows=self.windows,
            ns=self._ns,
            segments=self.segments(),
            merged={k: v for k, v in merged.items() if k in self._column},
            notes=notes,
        )
