"""Items read together, against each read alone by a scanner that has met no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from laptime import _native
from tests.scan import oracle

HEAD, TAIL = '{"schemaVersion": 1, "traceEvents": [\n', "\n]}"
PER_TEXT = {"bom", "root_list", "truncated", "event_arrays"}
"""Counters of a whole text; the sums over its items say nothing of them."""
PER_DISTINCT = {"raw_control_characters", "invalid_utf8", "bad_escapes", "lone_surrogates"}
"""Counted once for each distinct text, hence not a sum over the items either."""

Pairs = Sequence[tuple[str, "str | Pairs"]]


@dataclass(frozen=True)
class Style:
    """The white space of a writer."""

    opened: str = ""
    before_comma: str = ""
    after_comma: str = ""
    before_colon: str = ""
    after_colon: str = ""
    closing: str = ""


STYLES = {
    "compact": Style(),
    "spaced": Style(after_comma=" ", after_colon=" "),
    "lines": Style("\n      ", "", "\n      ", "", " ", "\n    "),
    "crlf": Style("\r\n\t", "", "\r\n\t", "", " ", "\r\n"),
    "tabs": Style("\t", "\t", "\t", "\t", "\t", "\t"),
    "wide": Style(" " * 30, " ", " " * 30, "", "  ", " " * 41),
}


def written(pairs: Pairs, style: Style, last: str = "") -> str:
    """An object of raw values; ``last`` stands behind the last value of every object."""
    inner = f"{style.before_comma},{style.after_comma}".join(
        f'"{key}"{style.before_colon}:{style.after_colon}'
        + (value if isinstance(value, str) else written(value, style, last))
        for key, value in pairs
    )
    return "{" + style.opened + inner + last + style.closing + "}"


def document(items: Iterable[str], between: str = ",\n") -> bytes:
    return (HEAD + between.join(items) + TAIL).encode()


Seen = dict[str, list[Any]]
KINDS = ("rows", "flows", "meta")


def seen(result: _native.ScanResult, text: bytes) -> Seen:
    """All that was read, item by item, in a form that can be laid end to end."""
    n = len(result.start_ns)
    none = [0] * n
    offsets = none if result.args_offset is None else result.args_offset.tolist()
    lengths = none if result.args_length is None else result.args_length.tolist()
    extra: list[dict[str, Any]] = [{} for _ in range(n)]
    for key, (row, value) in result.int_args.items():
        for i, v in zip(row.tolist(), value.tolist(), strict=True):
            extra[i][key] = v
    for key, (row, number) in result.text_args.items():
        for i, v in zip(row.tolist(), number.tolist(), strict=True):
            extra[i][key] = result.texts[v]
    rows = zip(
        result.start_ns.tolist(),
        result.dur_ns.tolist(),
        result.phase.tolist(),
        [result.names[i] for i in result.name],
        [result.categories[i] for i in result.category],
        [result.lanes[i] for i in result.lane],
        *(oracle.ids(getattr(result, column), n) for column in oracle.ID_ARGS),
        [text[at : at + size] for at, size in zip(offsets, lengths, strict=True)],
        extra,
        strict=True,
    )
    flows = zip(
        result.flow_id.tolist(),
        result.flow_ns.tolist(),
        [result.lanes[i] for i in result.flow_lane],
        result.flow_phase.tolist(),
        strict=True,
    )
    return {"rows": list(rows), "flows": list(flows), "meta": list(result.meta)}


_ALONE: dict[str, tuple[Seen, dict[str, int], list[tuple[int, str, int]]]] = {}


def alone(item: str) -> tuple[Seen, dict[str, int], list[tuple[int, str, int]]]:
    """What an item reads as by itself: values, counters, and losses from its own first byte."""
    if item not in _ALONE:
        text = document([item])
        result = oracle.scan(text)
        at = text.index(b"\n") + 1
        losses = [(offset - at, why, count) for offset, why, count in result.losses]
        _ALONE[item] = (seen(result, text), dict(result.counters), losses)
    return _ALONE[item]


def forget() -> None:
    """Drops what is known of items alone, where ever new ones are made."""
    _ALONE.clear()


def by_themselves(items: Sequence[str]) -> Seen:
    """The items' values, each read by a scanner of its own; repeated metadata is kept once."""
    parts = [alone(item)[0] for item in items]
    whole: Seen = {key: [x for part in parts for x in part[key]] for key in KINDS}
    whole["meta"] = list(dict.fromkeys(whole["meta"]))
    return whole


def check(items: Sequence[str], chunks: Sequence[int] = (), is_json: bool = True) -> None:
    """Together the items read as each does alone, and as the oracle reads them."""
    text = document(items)
    result = oracle.scan(text)
    assert seen(result, text) == by_themselves(items)
    assert result.items == len(items)
    counters: Counter[str] = Counter()
    losses: dict[str, tuple[int, int]] = {}
    at = len(HEAD)
    for item in items:
        _, counts, lost = alone(item)
        counters.update(counts)
        for offset, why, count in lost:
            first, before = losses.get(why, (at + offset, 0))
            losses[why] = (first, before + count)
        at += len(item.encode()) + 2
    for key, count in result.counters.items():
        if key not in PER_TEXT | PER_DISTINCT:
            assert count == counters[key], key
    assert {why: (first, count) for first, why, count in result.losses} == losses
    if is_json:
        wanted = oracle.read(text)
        oracle.same(result, wanted, text)
    for chunk in chunks:
        cut = oracle.scan(text, chunk)
        assert seen(cut, text) == seen(result, text)
        assert (cut.losses, cut.counters) == (result.losses, result.counters)
