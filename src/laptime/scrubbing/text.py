"""The text of a trace, scrubbed as it streams: strings are replaced, everything else is copied.

Nothing is parsed into a tree, so that broken files pass too: text outside strings that is no JSON
is masked, up to where an event begins again. Only one event is held at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from laptime.evidence.kineto import HOST_KEYS
from laptime.evidence.kineto_words import CATEGORIES
from laptime.scrubbing.names import Names
from laptime.scrubbing.words import BY_WORD, KNOWN_KEYS, VALUES_KEPT

_TOKEN = re.compile(rb'("(?:[^"\\\n]|\\.)*")(\s*:)?|([{}\[\]])', re.DOTALL)
_PLAIN = re.compile(rb"(?:[\s0-9+\-.,:]|[eE](?=[+\-0-9])|true|false|null|NaN|-?Infinity|nan|inf)*")
_EVENT = re.compile(rb'\{\s*"(?:ph|name|cat)"\s*:')
_HAS_PH = re.compile(rb'\{\s*"ph"\s*:')
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_NUMBERS = re.compile(r"[\s0-9.,\[\]()+\-]*|0x[0-9a-fA-F]+")
_MOST_STRING = 8 << 20
_LOOKAHEAD = 64


@dataclass
class _Level:
    """One open bracket: which, what it stands in, and the key at hand."""

    bracket: bytes
    place: str
    key: str = ""


class Scrubber:
    """Scrubs one text. ``damaged`` counts the places that were no JSON."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.damaged = 0
        self._levels: list[_Level] = []
        self._out: list[bytes] = []
        self._name_at: tuple[int, str] | None = None
        self._category: str | None = None
        self._cache: dict[tuple[str, str, bytes], bytes] = {}

    def pieces(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The scrubbed text of a text's pieces."""
        rest = b""
        for chunk in chunks:
            rest = self._some(rest + chunk, last=False)
            yield self._flushed()
        self._some(rest, last=True)
        self._settle()
        yield self._flushed(everything=True)

    def args(self, text: bytes) -> bytes:
        """The scrubbed text of one event's arguments."""
        return self._within(text, [_Level(b"{", "event", "args")])

    def header(self, text: bytes) -> bytes:
        """The scrubbed text of a trace's header, an object."""
        return self._within(text, [])

    def _within(self, text: bytes, levels: list[_Level]) -> bytes:
        self._levels = levels
        self._some(text, last=True)
        self._settle()
        return self._flushed(everything=True)

    def _flushed(self, everything: bool = False) -> bytes:
        """What is ready: all but an event whose name is not settled yet."""
        if self._name_at is not None and not everything:
            at = self._name_at[0]
            out, self._out = self._out[:at], self._out[at:]
            self._name_at = (0, self._name_at[1])
        else:
            out, self._out = self._out, []
        return b"".join(out)

    def _some(self, text: bytes, last: bool) -> bytes:
        """Scrub as far as tokens are whole; the rest."""
        at = 0
        while True:
            match = _TOKEN.search(text, at)
            if match is None:
                break
            if not last and match.end() > len(text) - _LOOKAHEAD:
                break  # a colon, or the start of an event, may follow in the next piece
            if not self._between(text[at : match.start()]):
                again = _EVENT.search(text, match.start())
                if again is None and not last and len(text) - at < _MOST_STRING:
                    return text[at:]
                end = len(text) if again is None else again.start()
                self._mask(text[at:end])
                self._settle()
                self._levels = [_Level(b"{", "root"), _Level(b"[", "events")]
                at = end
                continue
            at = match.end()
            if match[1] is not None:
                self._string(match[1], match[2])
            else:
                self._bracket(match[3], text, match.start())
        if not last:
            return text[at:]
        if at < len(text):
            tail = text[at:]
            if _PLAIN.fullmatch(tail):
                self._out.append(tail)
            else:
                self._mask(tail)
        return b""

    def _between(self, gap: bytes) -> bool:
        """Copy what stands between strings, if it is JSON."""
        if gap and _PLAIN.fullmatch(gap) is None:
            return False
        if gap:
            self._out.append(gap)
        return True

    def _mask(self, text: bytes) -> None:
        self.damaged += 1
        self._out.append(_LETTER.sub(b"?", text))

    def _bracket(self, bracket: bytes, text: bytes, at: int) -> None:
        levels = self._levels
        if bracket in b"{[":
            if levels and levels[-1].place != "events" and _HAS_PH.match(text, at):
                self._settle()  # an event begins where none can: something before it was lost
                self._levels = levels = [_Level(b"{", "root"), _Level(b"[", "events")]
            levels.append(_Level(bracket, *self._place(bracket)))
        elif levels and levels.pop().place == "event":
            self._settle()
        self._out.append(bracket)

    def _place(self, bracket: bytes) -> tuple[str, str]:
        """What a new bracket stands in, and the key that its strings have."""
        if not self._levels:
            return ("events", "") if bracket == b"[" else ("root", "")
        outer = self._levels[-1]
        if outer.place == "root":
            if outer.key == "traceEvents":
                return "events", ""
            return ("devices" if outer.key == "deviceProperties" else "head"), outer.key
        if outer.place == "events":
            return "event", ""
        if outer.place == "event":
            return "args", outer.key
        return outer.place, outer.key

    def _settle(self) -> None:
        """Put in the name of the event that ends, now that its category is known."""
        if self._name_at is not None:
            at, name = self._name_at
            self._out[at] = _quoted(self.names.event(name, self._category))
        self._name_at = self._category = None

    def _string(self, raw: bytes, colon: bytes | None) -> None:
        level = self._levels[-1] if self._levels else _Level(b"{", "root")
        if colon is not None and level.bracket == b"{":
            level.key = _unquoted(raw)
            self._out.append(self._key(level, raw) + colon)
            return
        if level.place == "event" and level.key == "name":
            self._name_at = (len(self._out), _unquoted(raw))
            self._out.append(b"")
        else:
            if level.place == "event" and level.key == "cat":
                self._category = _unquoted(raw)
            self._out.append(self._value(level, raw))
        if colon is not None:
            self._out.append(colon)

    def _key(self, level: _Level, raw: bytes) -> bytes:
        if level.key in KNOWN_KEYS or level.place == "devices":
            return raw
        return _quoted(self.names.name(level.key))

    def _value(self, level: _Level, raw: bytes) -> bytes:
        slot = (level.place, level.key, raw)
        if slot not in self._cache:
            if len(self._cache) > 1 << 16:
                self._cache.clear()
            text = _unquoted(raw)
            new = self._new(level.place, level.key, text)
            self._cache[slot] = raw if new == text else _quoted(new)
        return self._cache[slot]

    def _new(self, place: str, key: str, text: str) -> str:
        names = self.names
        if key in HOST_KEYS and place != "event":
            return names.whole("host", text)
        if key in KNOWN_KEYS and _NUMBERS.fullmatch(text):
            return text
        if place == "devices":
            return text if key == "name" else names.whole("text", text)
        if key == "cat":
            return text if text in CATEGORIES else names.name(text)
        if key in VALUES_KEPT or (place in ("head", "root") and key.endswith("_version")):
            return text
        if key in BY_WORD:
            return names.name(text)
        return names.whole("text", text)


def _unquoted(raw: bytes) -> str:
    if b"\\" in raw:
        try:
            value = json.loads(raw.decode("utf-8", "surrogateescape"), strict=False)
            return value if isinstance(value, str) else ""
        except ValueError:
            pass
    return raw[1:-1].decode("utf-8", "surrogateescape")


def _quoted(text: str) -> bytes:
    try:
        return json.dumps(text, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # Bytes that were no UTF-8 come out as they came, half of a pair as an escape.
        inside = "".join(
            f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" and not "\udc80" <= c <= "\udcff" else c
            for c in json.dumps(text, ensure_ascii=False)
        )
        return inside.encode("utf-8", "surrogateescape")
