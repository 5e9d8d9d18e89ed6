"""How causes write numbers: three figures, the unit that suits, no more precision than measured."""

from __future__ import annotations

from collections.abc import Iterable

_SCALES = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"))


def number(value: float) -> str:
    """Three significant figures, without an exponent ("69.3", "175", "0.42")."""
    size = abs(value)
    if size >= 99.95:
        return f"{value:.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    if size >= 0.9995:
        return f"{value:.2f}"
    return f"{value:.3g}" if value else "0"


def unit_of(ns: float) -> tuple[int, str]:
    """The scale (ns per unit) and name of the unit in which a time reads best."""
    for scale, name in _SCALES:
        if abs(ns) >= 0.9995 * scale:
            return scale, name
    return 1, "ns"


def time(ns: float) -> str:
    """A time with its unit ("59.3 ms", "820 us")."""
    scale, name = unit_of(ns)
    return f"{number(ns / scale)} {name}"


def part_of(part_ns: float, whole_ns: float, whole: str) -> str:
    """A part and its whole in the whole's unit, where the part is at least one of it.

    ``whole`` names the whole with a place for its length: "each {} lap" gives
    "69.3 of each 175 ms lap". Below one unit the part has its own ("838 us of each 131 ms lap"):
    "0.838 of each 131 ms lap" reads as a fraction of the lap.
    """
    scale, name = unit_of(whole_ns)
    if 0 < part_ns < 0.9995 * scale:
        return f"{time(part_ns)} of {whole.format(time(whole_ns))}"
    return f"{number(part_ns / scale)} of {whole.format(f'{number(whole_ns / scale)} {name}')}"


def percent(share: float) -> str:
    """A share as per cent: one decimal below 10 and above 90, else none ("34 %", "97.9 %")."""
    value = 100 * share
    if value and abs(value) < 0.05:
        return "below 0.1 %"
    return f"{value:.0f} %" if 9.95 <= value <= 90 else f"{value:.1f} %"


def below(share: float, limit: float, of: str) -> str:
    """A share and the limit it stays under ("1.0 % of the lap, below 5.0 %"), with as many digits
    as it takes to tell them apart."""
    told, most = percent(share), percent(limit)
    digits = 1
    while share < limit and told == most and digits < 8:
        digits += 1
        told = f"{100 * share:.{digits}f} %"
        most = f"{100 * limit:.{digits}f} %"
    tiny = told.startswith("below")  # "below 0.1 %, below 5.0 %" says no more than the first
    return f"{told} {of}" if tiny else f"{told} {of}, below {most}"


def count(value: float) -> str:
    """A mean count ("15", "2.5", "1540")."""
    return f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def times(value: float) -> str:
    """How often ("once", "15 times", "2.5 times")."""
    return "once" if value == 1 else f"{count(value)} times"


def counted(value: float, noun: str) -> str:
    """A mean count with its noun, singular where it is one ("1 call", "2.5 copies")."""
    plural = noun.endswith("y") and noun[-2:-1] not in "aeiou"  # copies, replays
    many = f"{noun[:-1]}ies" if plural else f"{noun}s"
    return f"{count(value)} {noun if value == 1 else many}"


def listed(parts: Iterable[str], most: int = 3) -> str:
    """Texts in a row, the rest counted ("a, b, c and 2 more")."""
    texts = list(parts)
    shown = ", ".join(texts[:most])
    return f"{shown} and {len(texts) - most} more" if len(texts) > most else shown


def sentence_after(title: str, sentence: str) -> str:
    """A title and its sentence as one ("Waits for input: the loader takes ...")."""
    opening = sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence
    return f"{title}: {opening}"
