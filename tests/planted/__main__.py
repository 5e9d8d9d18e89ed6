"""Run chosen cases and print a line for each: ``python -m tests.planted [SEED] [PROGRAM...]``."""

from __future__ import annotations

import sys

from tests.planted.cases import run
from tests.planted.declared import KINDS


def main(seed: int, chosen: list[str]) -> None:
    for kind in KINDS:
        if not chosen or kind.program in chosen:
            print(run(kind, seed).line(), flush=True)


if __name__ == "__main__":
    words = sys.argv[1:]
    first = int(words.pop(0)) if words and words[0].isdigit() else 1
    main(first, words)
