"""Called by MkDocs: pages get the parts that are made when the site is built."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from docs.generate import built


def on_page_markdown(markdown: str, **_: object) -> str:
    """The page's text as it is shown."""
    return built(markdown)
