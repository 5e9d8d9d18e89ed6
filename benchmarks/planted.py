"""Pooled rates of the planted faults: rounds of all kinds with fresh seeds, added to a file.

``python -m benchmarks.planted POOL.jsonl --minutes 60`` runs whole cases until the time is up and
appends a line for each; ``--page docs/planted.md`` writes the rates of all lines of the file into
the page, between its two marks. Cases of several runs and hosts may be put into one file.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.planted.cases import LEAST_COST, LOUD, run
from tests.planted.declared import KINDS

Told = Mapping[str, Any]
LEVEL_Z = 1.959964
"""Two-sided 95 %."""
MARKS = ("<!-- pooled -->", "<!-- /pooled -->")


def wilson(hits: int, cases: int) -> tuple[float, float]:
    """Wilson's score interval of a rate at 95 % (J. Am. Stat. Assoc. 22, 209)."""
    if cases == 0:
        return 0.0, 1.0
    rate, z2 = hits / cases, LEVEL_Z**2
    middle = (rate + z2 / (2 * cases)) / (1 + z2 / cases)
    half = LEVEL_Z * math.sqrt(rate * (1 - rate) / cases + z2 / (4 * cases**2)) / (1 + z2 / cases)
    return max(0.0, middle - half), min(1.0, middle + half)


def pool(path: Path, until: float) -> None:
    """Run cases in rounds of all kinds, in drawn order with fresh seeds, until the time is up."""
    draw = random.SystemRandom()
    while True:
        for kind in draw.sample(KINDS, k=len(KINDS)):
            if time.monotonic() > until:
                return
            try:
                case = run(kind, draw.randrange(1, 1_000_000))
            except Exception as fault:  # a program that failed is told and the pool goes on
                print(f"{kind.program}: {fault}", flush=True)
                continue
            with path.open("a") as file:
                file.write(json.dumps(case.record()) + "\n")
            print(case.line(), flush=True)


def read(path: Path) -> list[Told]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def page(cases: Sequence[Told]) -> str:
    """The rates and a table of kinds, as Markdown."""
    return "\n".join(_page(cases))


def _page(cases: Sequence[Told]) -> Iterator[str]:
    counted = [c for c in cases if c["counts"]]
    right, alarms = (sum(c[name] for c in counted) for name in ("right", "alarm"))
    loads = sorted(c["planted"]["others_cores"] for c in counted)
    yield f"{len(cases)} cases were run and {len(counted)} count: in the others the fault cost"
    yield f"less than {LEAST_COST - 1:.0%} of the lap by the programs' own clocks."
    yield ""
    yield "| of the cases that count | cases | rate | 95 % interval |"
    yield "| --- | --- | --- | --- |"
    yield f"| the fault's finding is the first one | {_rate(right, len(counted))} |"
    yield f"| clean twin with a finding bounded above {LOUD:.0%} | {_rate(alarms, len(counted))} |"
    if loads:
        yield ""
        yield f"Other programs used {loads[len(loads) // 2]:.1f} cores of the host meanwhile"
        yield f"(median; {loads[0]:.1f} to {loads[-1]:.1f})."
    yield ""
    yield "| program | right ids | count | right | what else came first | clean: above 5 % |"
    yield "| --- | --- | --- | --- | --- | --- |"
    # Programs that have been replaced since stay in the rates.
    accepted = {c["program"]: set(c["accepted"]) for c in cases}
    accepted |= {k.program: set(k.accepted) for k in KINDS}
    for program in sorted(accepted):
        mine = [c for c in counted if c["program"] == program]
        all_of_it = sum(c["program"] == program for c in cases)
        other = Counter(_first(c) for c in mine if not c["right"])
        loud = Counter(i for c in mine for i, share in c["clean"]["findings"] if _loud(share))
        ids = ", ".join(f"`{i}`" for i in sorted(accepted[program])) or "none yet"
        yield (
            f"| `{program}` | {ids} | {len(mine)} of {all_of_it} "
            f"| {sum(c['right'] for c in mine)} | {_counts(other)} | {_counts(loud)} |"
        )


def _loud(share: float | None) -> bool:
    return share is not None and share > LOUD


def _first(case: Told) -> str:
    found = case["planted"]["findings"]
    return str(found[0][0]) if found else "nothing"


def _counts(found: Counter[str]) -> str:
    return ", ".join(f"{i} {n}" for i, n in sorted(found.items())) or "-"


def _rate(hits: int, cases: int) -> str:
    low, high = wilson(hits, cases)
    rate = f"{hits / cases:.1%}" if cases else "-"
    return f"{hits} of {cases} | {rate} | {low:.1%} to {high:.1%}"


def write(place: Path, text: str) -> None:
    """Put the text between the marks of a page."""
    start, end = (re.escape(m) for m in MARKS)
    fresh = f"{MARKS[0]}\n\n{text}\n\n{MARKS[1]}"
    place.write_text(re.sub(f"{start}.*{end}", lambda _: fresh, place.read_text(), flags=re.DOTALL))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pool", type=Path)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    if asked.minutes:
        pool(asked.pool, time.monotonic() + 60 * asked.minutes)
    told = page(read(asked.pool))
    print(told)
    if asked.page:
        write(asked.page, told)


if __name__ == "__main__":
    main()
