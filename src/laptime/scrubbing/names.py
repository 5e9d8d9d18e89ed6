"""Names replaced consistently: one name always becomes the same other one, two never the same.

Whether laptime takes a name for a loader, a step, a compilation or nothing at all must not change.
So every pattern that the ledger and the causes ask names for is collected from their modules, and
a replacement counts only if all of them answer as they did for the name itself.
"""

from __future__ import annotations

import pkgutil
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from laptime.evidence.kineto_words import CATEGORIES
from laptime.model.rows import DEVICE_WORK
from laptime.scrubbing.words import PUBLIC, WORDS

_RUN = re.compile(r"[^\W\d_]+")
_PREFIX = "zq"
"""How replaced words begin: no word of a language or a library does."""

DEVICE_CATEGORIES = frozenset(c for c, kind in CATEGORIES.items() if kind in DEVICE_WORK)


@cache
def patterns() -> tuple[re.Pattern[str], ...]:
    """Every pattern of the ledger's, causes' and readers' modules, once each."""
    found: dict[tuple[str, int], re.Pattern[str]] = {}
    for package in ("laptime.ledger", "laptime.ledger.laps", "laptime.causes"):
        for module in pkgutil.iter_modules(import_module(package).__path__):
            for value in vars(import_module(f"{package}.{module.name}")).values():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    found.setdefault((value.pattern, value.flags), value)
    words = vars(import_module("laptime.evidence.kineto_words"))
    for value in words.values():
        if isinstance(value, re.Pattern):
            found.setdefault((value.pattern, value.flags), value)
    return tuple(found[key] for key in sorted(found))


def recognised(name: str) -> tuple[bool, ...]:
    """What every pattern says of a name."""
    return tuple(bool(how(name)) for p in patterns() for how in (p.search, p.match, p.fullmatch))


class Names:
    """Replacements made so far, and how many of each sort.

    ``keep``: names in which it is found stay as they are.
    """

    def __init__(self, keep: re.Pattern[str] | None = None) -> None:
        self.keep = keep
        self.counts: Counter[str] = Counter()
        self.kept: Counter[str] = Counter()
        self.mapping: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._wholes: dict[tuple[str, str], str] = {}
        self._by_sort: Counter[str] = Counter()
        self._told: set[tuple[str, str]] = set()

    def event(self, name: str, category: str | None) -> str:
        """The name of an event: kernels and copies of a device keep theirs."""
        if category in DEVICE_CATEGORIES:
            self._keep("kernel names", name)
            return name
        return self.name(name)

    def name(self, name: str) -> str:
        """A name, replaced word by word."""
        if name in self.mapping:
            return self.mapping[name]
        new = self._new(name)
        self.mapping[name] = new
        if new != name:
            self.counts["names"] += 1
        elif _RUN.search(name):
            self._keep("public names", name)
        return new

    def whole(self, sort: str, text: str) -> str:
        """A text replaced whole by its sort and a number ("host1")."""
        if not text:
            return text
        if self.keep is not None and self.keep.search(text):
            return text
        key = (sort, text)
        if key not in self._wholes:
            self._by_sort[sort] += 1
            self._wholes[key] = f"{sort}{self._by_sort[sort]}"
            self.counts[f"{sort}s"] += 1
            self.mapping.setdefault(text, self._wholes[key])
        return self._wholes[key]

    def _keep(self, sort: str, name: str) -> None:
        if (sort, name) not in self._told:
            self._told.add((sort, name))
            self.kept[sort] += 1

    def _new(self, name: str) -> str:
        if self.keep is not None and self.keep.search(name):
            return name
        public = [m.span() for m in PUBLIC.finditer(name)]
        first = self._replaced(name, public)
        if first == name:
            return name
        wanted = recognised(name)
        if recognised(first) == wanted:
            return first
        spans = [m.span() for p in patterns() for m in p.finditer(name) if m.end() > m.start()]
        second = self._replaced(name, [*public, *spans])
        if second != name and recognised(second) == wanted:
            return second
        if second != name:
            self.kept["names recognised only as a whole"] += 1
        return name

    def _replaced(self, name: str, kept: Iterable[tuple[int, int]]) -> str:
        spans = list(kept)

        def word(match: re.Match[str]) -> str:
            low, high = match.span()
            if any(a < high and low < b for a, b in spans):
                return match[0]
            return self._word(match[0])

        return _RUN.sub(word, name)

    def _word(self, word: str) -> str:
        if word in WORDS:
            return word
        if word not in self._words:
            self._words[word] = _PREFIX + _letters(len(self._words))
        return self._words[word]


def _letters(number: int) -> str:
    """A number as letters: a, b, ..., z, aa, ab, ..."""
    out = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        out = chr(ord("a") + digit) + out
    return out
