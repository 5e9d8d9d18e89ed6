"""The text of an event's arguments, parsed as tolerantly as the scanner reads the event."""

from __future__ import annotations

import json
import re
from typing import Any

_STRING = re.compile(r'("(?:[^"\\]|\\.)*")', re.DOTALL)
_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_NUMBER_WORD = re.compile(r"([+-]?)\b(nan|inf|infinity)\b", re.IGNORECASE)
_LIMIT_BYTES = 64 << 20


def parsed_args(text: bytes) -> dict[str, Any] | None:
    """The arguments as a mapping; None where they cannot be parsed or are no object.

    Raw control characters, invalid UTF-8, bad escapes (kept as written), trailing commas,
    ``nan`` and ``inf`` in any spelling are accepted; of a repeated key the last value counts.
    """
    if len(text) > _LIMIT_BYTES:
        return None
    whole = text.decode("utf-8", "replace")
    value = _loaded(whole)
    if value is None:
        value = _loaded(_mended(whole))
    return value if isinstance(value, dict) else None


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    # RecursionError: nested deeper than Python's stack; ValueError: also numbers of absurd length.
    except (ValueError, RecursionError):
        return None


def _mended(text: str) -> str:
    parts = _STRING.split(text)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = _ESCAPE.sub(lambda m: m[0] if m[1] else "\\\\", part)
        else:
            part = _TRAILING_COMMA.sub("", part)
            parts[i] = _NUMBER_WORD.sub(_number_word, part)
    return "".join(parts)


def _number_word(match: re.Match[str]) -> str:
    if match[2].lower() == "nan":
        return "NaN"
    return ("-" if match[1] == "-" else "") + "Infinity"
