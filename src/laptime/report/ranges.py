"""Values and sentences of several ranks as one: least, median, most.

A median here is a value that was seen: of an even number the lower of the two in the middle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Who = TypeVar("Who", bound=Hashable)

_FIGURE = re.compile(r"(?<![\w.,+#/<>=-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w/=-]|[.,]\d)")
"""A figure that stands by itself: not part of a name (fp32, gpu0), a range (10-20) or a version."""


@dataclass(frozen=True)
class Range:
    """Least, median and most of some values; ``number`` is how many there are."""

    least: float
    median: float
    most: float
    number: int


def over(values: Iterable[float]) -> Range | None:
    """The range of values; None of none."""
    ordered = sorted(values)
    if not ordered:
        return None
    return Range(ordered[0], ordered[(len(ordered) - 1) // 2], ordered[-1], len(ordered))


def phrase(found: Range, shown: Callable[[float], str]) -> str:
    """``14.4% to 59.9%, median 37.9%``; what reads alike is said once."""
    least, median, most = shown(found.least), shown(found.median), shown(found.most)
    if least == most:
        return least
    between = f"{least} to {most}"
    return f"{between}, median {median}" if found.number > 2 else between


def variants(said: Sequence[tuple[Who, str]]) -> list[tuple[list[Who], str]]:
    """Texts that differ only in figures as one each, with the ranges of the figures.

    In order of first appearance. Units are words of the text: 900 us and 1.10 ms do not make a
    range, but two texts.
    """
    groups: dict[str, list[tuple[Who, str]]] = {}
    for who, text in said:
        groups.setdefault(_FIGURE.sub("0", text), []).append((who, text))
    return [
        ([who for who, _ in members], _ranged([text for _, text in members]))
        for members in groups.values()
    ]


def _ranged(texts: Sequence[str]) -> str:
    """One text whose figures are ranges; the texts differ in nothing else."""
    columns = list(zip(*(_FIGURE.findall(text) for text in texts), strict=True))
    figures = iter(columns)

    def range_of(_: re.Match[str]) -> str:
        written = sorted(set(next(figures)), key=lambda f: (float(f.replace(",", "")), f))
        return written[0] if len(written) == 1 else f"{written[0]} to {written[-1]}"

    return _FIGURE.sub(range_of, texts[0])
