"""What was ruled out, by the layer of the cause: dozens of causes are read by where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from laptime.causes.case import Clear, Judgement
from laptime.causes.registry import causes
from laptime.explanation import Explanation
from laptime.report import grouped

OTHER = "other"
"""Layer of a cause that the catalogue does not hold."""


@dataclass(frozen=True)
class Layer:
    """The causes of one layer. ``causes`` are ids, with their ranks where those are not all of
    them; ``rows`` are (ids and ranks, figures), what reads alike in one."""

    name: str
    causes: Sequence[str]
    rows: Sequence[tuple[str, str]]


def ruled_out(explanation: Explanation, said: Judgement, together: bool) -> list[Layer]:
    """Layers in alphabetical order, causes as ``grouped.cleared`` has them."""
    layer_of = {cause.id: cause.layer for cause in causes()}
    where: dict[str, list[Clear]] = {}
    for clear in said.clear:
        where.setdefault(clear.id, []).append(clear)
    by_layer: dict[str, list[grouped.Cleared]] = {}
    for told in grouped.cleared(explanation, said, together):
        by_layer.setdefault(layer_of.get(told.id, OTHER), []).append(told)
    layers = []
    for name in sorted(by_layer):
        ids = dict.fromkeys(told.id for told in by_layer[name])
        named = [id_ + (_partly(explanation, where[id_]) if together else "") for id_ in ids]
        layers.append(Layer(name, named, _rows(by_layer[name])))
    return layers


def number(layers: Sequence[Layer]) -> int:
    """How many causes they hold."""
    return sum(len(layer.causes) for layer in layers)


def _partly(explanation: Explanation, members: Sequence[Clear]) -> str:
    if len(members) == len(explanation.views):
        return ""
    return f" on {grouped.whose(explanation, members)}"


def _rows(clears: Sequence[grouped.Cleared]) -> list[tuple[str, str]]:
    alike: dict[tuple[str, str], list[str]] = {}
    for told in clears:
        alike.setdefault((told.on, told.why), []).append(told.id)
    return [(", ".join([*ids, *([on] if on else [])]), why) for (on, why), ids in alike.items()]
