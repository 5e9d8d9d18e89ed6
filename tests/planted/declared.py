"""The kinds of fault, and for each the findings that are right, declared before anything is run.

The ids are those of the catalogue (docs/causes.md), chosen from what each cause says it is, not
from what it answered. A kind has several where the catalogue has a general and a specific name.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One kind of fault: ``program`` is a file of ``programs/``, ``accepted`` the right ids."""

    program: str
    accepted: frozenset[str]
    launcher: tuple[str, ...] = ()
    """What comes before the program on the command line, for programs of several ranks."""
    neighbour: str | None = None
    """Another program, which the planted run has beside it on the host."""


def _kind(program: str, *accepted: str, **more: str) -> Kind:
    return Kind(program, frozenset(accepted), neighbour=more.get("neighbour"))


KINDS: tuple[Kind, ...] = (
    _kind("loader_slow_item", "input-starvation"),
    _kind("loader_slow_decode", "input-starvation"),
    _kind("loader_slow_collate", "input-starvation"),
    _kind("loader_remote", "input-starvation"),
    _kind("few_workers", "input-starvation"),
    _kind("workers_remade", "workers-remade"),
    _kind("gc_collect", "gc-pauses"),
    _kind("gc_thresholds", "gc-pauses"),
    _kind("one_thread", "too-few-threads"),
    _kind("many_threads", "cpu-oversubscription"),
    _kind("cpu_mask", "narrowed-cpu-mask"),
    _kind("fresh_buffers", "page-faults"),
)
