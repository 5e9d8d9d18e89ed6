"""Runs the twins under ``laptime run``, judges them, and writes the table of the page.

``python -m tests.planted_fresh.judge POOL.jsonl [--seeds 1 2] [--page docs/planted_fresh.md]``
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.planted import wilson, write
from tests.planted.cases import Case, run
from tests.planted_fresh.declared import ACCEPTED, kind

Told = dict[str, Any]


def judge(program: str, seed: int) -> Case:
    return run(kind(program), seed)


def told(case: Case) -> Told:
    """The record of a case, under the program's name, with the load of the host."""
    return case.record() | {
        "program": Path(case.program).name,
        "load": round(os.getloadavg()[0], 1),
    }


def page(cases: Sequence[Told]) -> str:
    return "\n".join(_page(cases))


def _page(cases: Sequence[Told]) -> Iterator[str]:
    counted = [c for c in cases if c["counts"]]
    loads = sorted(c["load"] for c in cases)
    others = sorted(a["others_cores"] for c in cases for a in (c["planted"], c["clean"]))
    yield (
        f"{len(cases)} cases, {len(counted)} counted. Load of the host (1 minute) {loads[0]} to "
        f"{loads[-1]}, median {loads[len(loads) // 2]}, on {os.cpu_count()} cores; other programs "
        f"used {others[len(others) // 2]:.1f} cores (median of the runs).\n"
    )
    yield "| | cases | rate | 95 % interval |\n|---|---|---|---|"
    right, alarms = sum(c["right"] for c in counted), sum(c["alarm"] for c in cases)
    yield f"| first finding right, of counted | {_rate(right, len(counted))} |"
    yield f"| clean twin with a bound above 5 %, of all | {_rate(alarms, len(cases))} |\n"
    yield "| program | seed | cost | lap, ms | first finding | accepted? | clean twin above 5 % |"
    yield "|---|---|---|---|---|---|---|"
    for case in cases:
        said = "not counted" if not case["counts"] else "yes" if case["right"] else "**no**"
        found = case["planted"]["findings"]
        loud = ", ".join(f"{i} {s:.0%}" for i, s in case["clean"]["findings"] if s and s > 0.05)
        yield (
            f"| {case['program']} | {case['seed']} | x{case['cost']:.2f} "
            f"| {case['planted']['lap_ns'] / 1e6:.0f} | {_first(found)} | {said} | {loud or '-'} |"
        )


def _first(found: Sequence[tuple[str, float | None]]) -> str:
    if not found:
        return "nothing"
    name, share = found[0]
    return f"{name} {'(no bound)' if share is None else f'{share:.0%}'}"


def _rate(hits: int, cases: int) -> str:
    low, high = wilson(hits, cases)
    rate = f"{hits / cases:.0%}" if cases else "-"
    return f"{hits} of {cases} | {rate} | {low:.0%} to {high:.0%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pool", type=Path)
    parser.add_argument("--seeds", type=int, nargs="*", default=[])
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    for seed in asked.seeds:
        for program in ACCEPTED:
            try:
                case = judge(program, seed)
            except Exception as fault:  # told, and the others go on
                print(f"{program} {seed}: {fault}", flush=True)
                continue
            with asked.pool.open("a") as file:
                file.write(json.dumps(told(case)) + "\n")
            print(case.line(), flush=True)
    if asked.page:
        cases = [json.loads(line) for line in asked.pool.read_text().splitlines()]
        write(asked.page, page(cases))


if __name__ == "__main__":
    main()
