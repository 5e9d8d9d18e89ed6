"""Names of a run that are near to one that it does not hold: what a wrong name may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MOST = 5
"""Names suggested."""
_LOOKED_AT = 4096
"""Names compared letter by letter; a run with stacks may have a hundred thousand."""


def near(wanted: str, names: Iterable[str]) -> list[str]:
    """Up to five of the names: those that hold the wanted one, then those spelt alike."""
    distinct = sorted(set(names))
    low = wanted.lower()
    holds = [n for n in distinct if low and low in n.lower()]
    by_end = {n.rsplit(" ", 1)[-1]: n for n in reversed(distinct[:_LOOKED_AT])}
    alike = [by_end[end] for end in get_close_matches(wanted, sorted(by_end), MOST)]
    return list(dict.fromkeys([*sorted(holds, key=lambda n: (len(n), n)), *alike]))[:MOST]
