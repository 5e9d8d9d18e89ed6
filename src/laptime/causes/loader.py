"""The loader as the trace names it: its spans, and how it was configured."""

from __future__ import annotations

import numpy as np

from laptime.ledger.states import LOADER
from laptime.model.rows import Ints, Kind, Rows

WITHOUT_WORKERS = "_SingleProcessDataLoaderIter"
WITH_WORKERS = "_MultiProcessingDataLoaderIter"


def loader_rows(rows: Rows) -> Ints:
    """Rows of the loader's next (and of queue gets), as the ledger recognises them."""
    named = rows.names_matching(lambda name: LOADER.search(name) is not None)
    if not named.any():
        return np.zeros(0, dtype=np.int64)
    host = rows.of_kind(Kind.ANNOTATION, Kind.CPU_OP, Kind.PYTHON)
    found: Ints = host[named[rows.name[host]]]
    return found


def has_workers(rows: Rows, loader: Ints) -> bool | None:
    """Whether the loader runs in workers, by its iterator's name; None where it does not tell."""
    names = {rows.names[int(i)] for i in np.unique(rows.name[loader])}
    with_workers = any(WITH_WORKERS in n for n in names)
    without = any(WITHOUT_WORKERS in n for n in names)
    return None if with_workers == without else with_workers
