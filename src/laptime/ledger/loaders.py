"""Rows in which a thread waits for its next batch: the names that are known, and the user's own."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.model.rows import Ints, Kind, Rows

MARKS = (Kind.ANNOTATION, Kind.CPU_OP)


@dataclass(frozen=True)
class Recognised:
    """A form of loaders' names: a regular expression searched in them, one that it finds, and what
    such a row is."""

    pattern: str
    example: str
    what: str


RECOGNISED: tuple[Recognised, ...] = (
    Recognised(
        r"DataLoader.*__next_?",
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
        "the next of a torch DataLoader, as torch itself marks it",
    ),
    Recognised(
        r"^torch/utils/data/dataloader\.py\(\d+\): (__next__|_next_data|_get_data|_try_get_data)",
        "torch/utils/data/dataloader.py(741): __next__",
        "the same as a Python frame",
    ),
    Recognised(
        r"(train|val|test)_dataloader_next",
        "[_TrainingEpochLoop].train_dataloader_next",
        "a mark for the next of a training, val or test loader (Lightning, or the user's own)",
    ),
    Recognised(
        r"(^|/)queue\.py\(\d+\): get$", "queue.py(154): get", "a get from a queue between threads"
    ),
    Recognised(
        r"(^|/)multiprocessing/queues\.py\(\d+\): get$",
        "multiprocessing/queues.py(98): get",
        "a get from a queue between processes",
    ),
    Recognised(
        r"^nvidia/dali/.*: (__next__|next|_run|run)$",
        "nvidia/dali/plugin/pytorch/__init__.py(219): __next__",
        "the next of a DALI pipeline",
    ),
)
LOADER = re.compile("|".join(known.pattern for known in RECOGNISED))

_LINE = re.compile(r"\(\d+\): ")


@dataclass(frozen=True)
class Loaders:
    """What counts as the loader: the recognised names, and names that the user gives.

    A name of the user's is the exact name of a mark (``record_function``, NVTX; a leading ``NVTX:``
    is only a reminder), or the end of a Python frame from a part of its path or its function on:
    ``fetch``, ``data.py(12): fetch`` and ``data.py: fetch`` all are ``my/data.py(12): fetch``.
    """

    own: tuple[str, ...] = ()

    def is_loader(self, name: str, kind: Kind) -> bool:
        """Whether a row of this name and kind is a loader's."""
        if LOADER.search(name):
            return True
        return any(self.names(one, name, kind) for one in self.own)

    @staticmethod
    def names(own: str, name: str, kind: Kind) -> bool:
        """Whether the user's name ``own`` means a row of this name and kind."""
        if kind is not Kind.PYTHON:
            wanted = own[5:] if own.upper().startswith("NVTX:") else own
            return kind in MARKS and name in (own, wanted)
        return _ends(name, own) or _ends(_LINE.sub(": ", name), own)

    def rows(self, rows: Rows) -> Ints:
        """The loader's rows of a timeline, in file order."""
        found = [rows.like(LOADER, *MARKS, Kind.PYTHON)]
        if self.own:
            for kind in (*MARKS, Kind.PYTHON):
                hit = np.zeros(len(rows.names) + 1, dtype=np.bool_)
                for i in rows.names_used(kind):
                    hit[i] = any(self.names(one, rows.names[i], kind) for one in self.own)
                if hit.any():
                    pick = rows.of_kind(kind)
                    found.append(pick[hit[rows.name[pick]]])
        return np.unique(np.concatenate(found))


RECOGNISED_ONLY = Loaders()


def _ends(frame: str, own: str) -> bool:
    """Whether a frame ends with the name, from the start of a part on."""
    return frame == own or (bool(own) and frame.endswith((f"/{own}", f" {own}")))
