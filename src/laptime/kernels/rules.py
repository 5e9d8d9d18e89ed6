"""The form of the table: one rule a family of kernels, tried in order, first match wins.

A rule is matched at the start of the qualified function name (`PATH` rules, which see
namespaces) or at the start of its last component (`BASE` rules). All path rules come before all
base rules. For speed the patterns of a kind are one alternation: a name costs two matches
however many rules there are. Patterns therefore hold no capturing groups. The group that tells
which rule held is empty and ends its branch: a branch that starts with a plain character can
then be passed over at a glance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from laptime.kernels.demangle import Parts
from laptime.kernels.reading import NOTHING, Reading

Reader = Callable[[Parts], Reading]


def nothing(parts: Parts) -> Reading:
    """The reader of rules whose names say no more than library and operation."""
    del parts
    return NOTHING


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern`: regular expression without groups, matched from the start; `library` and
    `operation`: words of `laptime.kernels.operations`, or "unknown"; `read`: see `Reading`."""

    pattern: str
    library: str
    operation: str
    read: Reader = nothing


class Table:
    """Rules of one kind compiled into one alternation."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._match = re.compile(
            "|".join(f"(?:{rule.pattern})(?P<r{i}>)" for i, rule in enumerate(self.rules))
        ).match

    def find(self, text: str) -> Rule | None:
        """The first rule that holds at the start of `text`."""
        found = self._match(text)
        if found is None or found.lastgroup is None:
            return None
        return self.rules[int(found.lastgroup[1:])]
