"""Arguments of events, read again from the source when they are asked for."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from laptime.evidence.argtext import parsed_args
from laptime.evidence.source import Source
from laptime.evidence.textat import Cursor, TextAt, text_at
from laptime.model.errors import UnreadableInput
from laptime.model.rows import Ints, present

_RECHECK_S = 30.0
"""A remote file is looked at again only after this time: looking costs requests."""


class ArgReader:
    """Reads the argument text of given rows; can be called as ``Rows.read_args``.

    ``offset`` and ``length`` are columns in bytes of uncompressed text; a length of 0 means that
    the row has no arguments. Can be pickled unless the source is a stream (the index of access
    points stays behind and is built again). Safe to call from several threads.
    """

    def __init__(self, source: Source, offset: Ints, length: Ints) -> None:
        self._source = source
        self._offset = offset
        self._length = length
        self._checked_s: float | None = None
        self._text: TextAt | None = None
        self._lock = threading.Lock()

    @property
    def unavailable(self) -> str | None:
        """Why arguments cannot be read (all, or those after what was kept); None if they can."""
        source = self._source
        if source.rereadable:
            return None
        if not source.spill_allowed:
            return f"{source.name}: cannot be read again, and no temporary copy was allowed"
        if source.spill is None:
            return f"{source.name}: cannot be read again, and no temporary copy could be made"
        if source.spill.failure is not None:
            return f"{source.name}: cannot be read again, and {source.spill.failure}"
        if not source.spill.complete:
            return f"{source.name}: was not read to its end"
        return None

    def __call__(self, rows: Ints) -> list[dict[str, Any] | None]:
        """The same as ``fetch``."""
        return self.fetch(rows)

    def fetch(self, rows: Ints) -> list[dict[str, Any] | None]:
        """Arguments of ``rows``, in their order; None where there are none or they cannot be
        parsed.

        The text is passed over once, front to back, however many rows are asked for. Raises
        ``UnreadableInput`` where the source has changed since it was read.
        """
        return [None if text is None else parsed_args(text) for text in self.texts(rows)]

    def texts(self, rows: Ints) -> list[bytes | None]:
        """Argument text of ``rows`` as it stands in the source."""
        rows = np.asarray(rows, dtype=np.int64)
        offset = self._offset[rows].astype(np.int64)
        length = self._length[rows].astype(np.int64)
        length[~present(self._length[rows])] = 0
        out: list[bytes | None] = [None] * len(rows)
        with self._lock:
            self._check()
            if self._text is None:
                self._text = text_at(self._source)
            spill = self._source.spill
            if self._text is None or (spill is not None and spill.closed):
                return out
            cursor = Cursor(self._text)
            try:
                for i in np.argsort(offset, kind="stable").tolist():
                    if length[i] > 0:
                        out[i] = cursor.span(int(offset[i]), int(length[i]))
            finally:
                cursor.close()
        return out

    def _check(self) -> None:
        """Raise where the source is no longer what was read."""
        was = self._source.identity
        if was is None:
            return
        now_s = time.monotonic()
        if (
            not self._source.stored.local
            and self._checked_s is not None
            and now_s - self._checked_s < _RECHECK_S
        ):
            return
        now = self._source.stored.identity()
        if now is None or not was.same_as(now):
            raise UnreadableInput(f"{self._source.name}: changed since it was read; read it again")
        self._checked_s = now_s

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.update(_text=None, _lock=None, _checked_s=None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
