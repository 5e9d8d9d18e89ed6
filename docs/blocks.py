"""Parts of a page that are made from the code, between two comments that name them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parent


def refreshed(text: str, word: str, made: Callable[[str], str]) -> str:
    """The text with every ``<!-- word: NAME -->`` ... ``<!-- /word -->`` holding ``made(NAME)``."""
    block = re.compile(rf"(<!-- {word}: (\S+) -->\n).*?(<!-- /{word} -->)", re.DOTALL)
    return block.sub(lambda m: f"{m[1]}\n{made(m[2]).strip()}\n\n{m[3]}", text)


def block_names(text: str, word: str) -> list[str]:
    """The names of the blocks of a page, in order."""
    return re.findall(rf"<!-- {word}: (\S+) -->", text)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def cell(text: str) -> str:
    """Text that cannot end a table cell."""
    return " ".join(text.replace("|", "\\|").split())
