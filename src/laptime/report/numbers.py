"""Numbers and names as a reader sees them: one rounding, one word for what is missing."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

NOT_MEASURED = "not measured"
"""What stands where the evidence holds no value; never a zero."""

_UNITS: tuple[tuple[str, float], ...] = (
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
    ("h", 3600e9),
)


def duration(ns: float | None) -> str:
    """Nanoseconds at three significant digits: ``4.21 us``, ``59.3 ms``, ``175 ms``.

    Below a microsecond whole nanoseconds; None is "not measured". Rounding never crosses a unit
    (999,999 ns is ``1.00 ms``, not ``1000 us``).
    """
    if ns is None:
        return NOT_MEASURED
    sign = "-" if ns < 0 else ""
    size = abs(ns)
    if round(size) < 1000:
        return f"{sign}{round(size)} ns" if size == 0 or round(size) else f"{sign}<1 ns"
    for (unit, scale), (_, bigger) in pairwise(_UNITS):
        if float(_three(size / scale)) * scale < bigger:
            return f"{sign}{_three(size / scale)} {unit}"
    unit, scale = _UNITS[-1]
    return f"{sign}{_three(size / scale)} {unit}"


def _three(value: float) -> str:
    """Three significant digits without an exponent; larger values as whole numbers."""
    for digits, below in ((2, 9.995), (1, 99.95)):
        if value < below:
            return f"{value:.{digits}f}"
    return f"{value:.0f}"


def share(part: float | None) -> str:
    """A share (0..1) in percent with one decimal.

    What is not nothing is not shown as nothing, and what is not the whole not as the whole.
    """
    if part is None:
        return NOT_MEASURED
    if 0 < part < 0.0005:
        return "<0.1%"
    if 0.9995 <= part < 1:
        return ">99.9%"
    return f"{part * 100:.1f}%"


def count(number: int | None) -> str:
    """A whole number with thousands separated."""
    return NOT_MEASURED if number is None else f"{number:,}"


def many(number: int, noun: str, plural: str | None = None) -> str:
    """``1 lap``, ``6 laps``."""
    return f"{count(number)} {noun if number == 1 else plural or noun + 's'}"


def visible(text: str) -> str:
    """Text with everything that acts instead of showing made visible as an escape.

    Evidence is written by others: terminal escapes, line breaks, bidirectional overrides, invisible
    and unpaired surrogate characters must neither act nor hide.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(c) for c in text)


def _shown(character: str) -> str:
    if unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}:
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shorten(text: str, width: int) -> str:
    """Text of at most ``width`` cells, cut in the middle: both ends of a name tell most."""
    if cells(text) <= width:
        return text
    if width < 4:
        return _head(text, max(width, 0))
    head = (width - 1) * 3 // 5
    tail = width - 1 - head
    return f"{_head(text, head)}…{_head(text[::-1], tail)[::-1]}"


def cells(text: str) -> int:
    """Terminal cells that a text takes at most: wide characters two, all others one (combining
    ones too, so that a pile of them is cut)."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return sum(max(1, cell_len(character)) for character in text)


def _head(text: str, width: int) -> str:
    """The longest beginning of at most ``width`` cells."""
    if text.isascii():
        return text[:width]
    used = end = 0
    for character in text:
        used += cells(character)
        if used > width:
            break
        end += 1
    return text[:end]
