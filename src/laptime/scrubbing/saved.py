"""A saved run scrubbed: the run with its names replaced, to be explained and saved again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from laptime.evidence.argtext import parsed_args
from laptime.evidence.kineto_words import CATEGORIES
from laptime.model.health import Health
from laptime.model.rows import DEVICE_WORK, Ints, Rows, SparseTexts
from laptime.model.run import Device, Lane, Run, Timeline
from laptime.scrubbing.names import Names
from laptime.scrubbing.text import Scrubber

_PROFILERS_OWN = ("collective", "dtype", "kind")
"""Text arguments whose values are the profiler's words, by a part of their names."""


class ScrubbedArgs:
    """Argument text of rows, scrubbed when it is read."""

    def __init__(self, read: Any, names: Names) -> None:
        self._read = read
        self._names = names

    def __call__(self, rows: Ints) -> list[dict[str, Any] | None]:
        """Arguments of the rows; None where there are none."""
        return [None if text is None else parsed_args(text) for text in self.texts(rows)]

    def texts(self, rows: Ints) -> list[bytes | None]:
        """The text of the rows' arguments."""
        found: Sequence[bytes | None] = self._read(rows)
        return [None if t is None else Scrubber(self._names).args(t) for t in found]


def scrubbed(run: Run, names: Names) -> Run:
    """The run with other names, and without the counters of `laptime run`."""
    sources = list(dict.fromkeys([*(t.source for t in run.timelines), *run.sources]))
    renamed = {source: f"source{i}" for i, source in enumerate(sources, 1)}
    timelines = [_timeline(t, names, renamed) for t in run.timelines]
    known = {**renamed, **{a: b for a, b in names.mapping.items() if a != b and len(a) > 3}}
    longest = sorted(known, key=lambda name: (-len(name), name))

    def told(text: str) -> str:
        for name in longest:
            text = text.replace(name, known[name])
        return text

    health = Health(
        run.health.items,
        [replace(x, source=renamed.get(x.source, "source"), reason=told(x.reason))
         for x in run.health.losses],
        [told(w) for w in run.health.warnings],
    )  # fmt: skip
    return Run(timelines, health, list(dict.fromkeys(t.source for t in timelines)))


def _timeline(timeline: Timeline, names: Names, renamed: Mapping[str, str]) -> Timeline:
    def label(text: str) -> str:
        for source, new in renamed.items():
            text = text.replace(source, new)
        return text

    def word(value: int | str | None) -> int | str | None:
        return names.name(value) if isinstance(value, str) else value

    host = None if timeline.host is None else names.whole("host", timeline.host)
    return replace(
        timeline,
        id=label(timeline.id),
        source=renamed[timeline.source],
        rows=_rows(timeline.rows, names),
        lanes=[
            Lane(
                word(lane.pid),
                word(lane.tid),
                None if lane.name is None else names.name(lane.name),
                None if lane.device is None else label(lane.device),
                lane.stream,
            )
            for lane in timeline.lanes
        ],
        devices=[_device(d, names, label(d.id), host) for d in timeline.devices],
        pid=word(timeline.pid),
        host=host,
        facts=_facts(timeline.facts, names),
        capture=None,
    )


def _device(device: Device, names: Names, name: str, host: str | None) -> Device:
    properties = _facts({"device_properties": [dict(device.properties)]}, names)
    uuid = None if device.uuid is None else names.whole("text", device.uuid)
    held = properties["device_properties"][0]
    return replace(device, id=name, host=host, uuid=uuid, properties=held)


def _facts(facts: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Header entries, scrubbed as the text that they came from."""
    header = {("deviceProperties" if k == "device_properties" else k): v for k, v in facts.items()}
    found: dict[str, Any] = json.loads(Scrubber(names).header(json.dumps(header).encode()))
    if "deviceProperties" in found:
        found["device_properties"] = found.pop("deviceProperties")
    return found


def _rows(rows: Rows, names: Names) -> Rows:
    on_device = np.zeros(len(rows.names) + 1, dtype=np.bool_)
    on_device[rows.names_used(*DEVICE_WORK)] = True
    read = getattr(rows.read_args, "texts", None)
    return Rows(
        start_ns=rows.start_ns,
        dur_ns=rows.dur_ns,
        name=rows.name,
        names=[
            names.event(n, "kernel" if on_device[i] else None) for i, n in enumerate(rows.names)
        ],
        category=rows.category,
        categories=[c if c in CATEGORIES else names.name(c) for c in rows.categories],
        kind=rows.kind,
        lane=rows.lane,
        phase=rows.phase,
        correlation=rows.correlation,
        external_id=rows.external_id,
        python_id=rows.python_id,
        python_parent=rows.python_parent,
        ints=dict(rows.ints),
        texts={k: _texts(k, sparse, names) for k, sparse in rows.texts.items()},
        read_args=None if read is None else ScrubbedArgs(read, names),
    )


def _texts(argument: str, sparse: SparseTexts, names: Names) -> SparseTexts:
    if any(part in argument.lower() for part in _PROFILERS_OWN):
        return SparseTexts(sparse.row, sparse.value, _only(sparse))
    used = set(np.unique(sparse.value).tolist())
    texts = [names.name(t) if i in used else "" for i, t in enumerate(sparse.texts)]
    return SparseTexts(sparse.row, sparse.value, texts)


def _only(sparse: SparseTexts) -> list[str]:
    """The texts that the argument uses; the set may hold those of others."""
    used = set(np.unique(sparse.value).tolist())
    return [t if i in used else "" for i, t in enumerate(sparse.texts)]
