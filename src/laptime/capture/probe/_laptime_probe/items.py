"""How many items a lap had: the batches that fed it, and not those of a validation between steps.

The loader whose batch came last before the lap's end feeds it. Others do where they have been seen
before and gave batches in half of the laps or more since: two loaders read side by side. A lap
into which no batch came (its batch was fetched ahead, in the lap before) has no number, and the
next one, into which two came, has none either.
"""

from typing import Dict, List, Optional, Tuple

Counts = Tuple[Optional[int], Optional[int]]
"""Samples and tokens; None where they are not known."""


class Items:
    """The batches of the lap that is open, and in how many laps each loader gave some."""

    def __init__(self) -> None:
        self._now: Dict[int, Counts] = {}
        self._last = 0
        self._seen: Dict[int, List[int]] = {}
        self._owed = False

    def came(self, loader: int, samples: Optional[int], tokens: Optional[int]) -> None:
        """A batch came from the loader of this id."""
        before = self._now.get(loader)
        if before is not None:
            samples, tokens = _sum(before[0], samples), _sum(before[1], tokens)
        self._now[loader] = (samples, tokens)
        self._last = loader

    def close(self, lap: int) -> Counts:
        """What the lap of this number had; the next one begins."""
        now, self._now = self._now, {}
        if not now:
            self._owed = bool(self._seen)
            return None, None
        owed, self._owed = self._owed, False
        found = now[self._last]
        for loader, counts in now.items():
            seen = self._seen.get(loader)
            if seen is None:
                self._seen[loader] = [lap, 1]
                continue
            seen[1] += 1
            if loader != self._last and 2 * seen[1] >= lap - seen[0] + 1:
                found = (_sum(found[0], counts[0]), _sum(found[1], counts[1]))
        return (None, None) if owed else found


def _sum(a: Optional[int], b: Optional[int]) -> Optional[int]:
    """The sum; not known where one part is not."""
    return None if a is None or b is None else a + b
