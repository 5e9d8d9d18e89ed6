"""The scanner's oracle: plain ``json`` and ``Decimal``, item by item, with no regard for speed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import numpy as np

from laptime import _native

INT_ARGS = (
    "bytes",
    "graph id",
    "graph node id",
    "Bytes",
    "Addr",
    "Total Allocated",
    "Total Reserved",
    "Device Id",
    "Device Type",
    "In msg nelems",
    "Out msg nelems",
    "Group size",
    "Seq",
    "Src Rank",
    "Dst Rank",
    "Global rank start",
    "Global rank stride",
    "wait_on_stream",
    "wait_on_cuda_event_record_corr_id",
    "wait_on_cuda_event_id",
    "event_id",
    "hsa_queue",
    "queue",
)
TEXT_ARGS = (
    "Collective name",
    "dtype",
    "Process Group Name",
    "Process Group Description",
    "Process Group Ranks",
    "kind",
    "cuda_sync_kind",
    "src",
    "dst",
)
ID_ARGS = {
    "correlation": ("correlation",),
    "external_id": ("External id", "external id"),
    "python_id": ("Python id",),
    "python_parent": ("Python parent id",),
}
LIMIT_NS = 1 << 62
_LONE = re.compile("[\ud800-\udfff]")


class Number(Decimal):
    """A decimal that remembers how it was written."""

    raw: str

    @classmethod
    def read(cls, text: str) -> Number:
        number = cls(text)
        number.raw = text
        return number


@dataclass
class Oracle:
    """The columns as Python lists; identifiers are None where missing."""

    items: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    flows: list[tuple[int, int, Any, str, str]] = field(default_factory=list)
    meta: list[tuple[str, Any, Any, str]] = field(default_factory=list)
    head: dict[str, Any] = field(default_factory=dict)


def text_of(value: Any) -> str:
    """A value as the text columns hold it: strings decoded, None empty, the rest raw."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _LONE.sub("�", value)
    if isinstance(value, Number):
        return value.raw
    if isinstance(value, bool):
        return "true" if value else "false"
    raise AssertionError(f"the oracle has no raw text for {value!r}")


def ns_of(value: Any) -> int | str | None:
    """Nanoseconds, or ``'bad'`` / ``'far'`` for what is no number / out of range."""
    if value is None:
        return None
    if isinstance(value, str):
        value = value.strip()
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value):
            return "bad"
        value = Number(value)
    if not isinstance(value, Number) or not value.is_finite():
        return "bad"
    # Beyond any range: decide without writing the digits out.
    if value and value.adjusted() > 40:
        return "far"
    if value.adjusted() < -40:
        return 0
    digits = len(value.as_tuple().digits) + 60
    import decimal

    with decimal.localcontext() as context:
        context.prec = digits
        ns = int((value * 1000).quantize(Decimal(1), rounding=ROUND_HALF_EVEN))
    return "far" if abs(ns) >= LIMIT_NS else ns


def integer_of(value: Any) -> int | None:
    """An integral value, or a string of digits; within 64 bits."""
    text = value.raw if isinstance(value, Number) else value if isinstance(value, str) else ""
    if not re.fullmatch(r"-?[0-9]+", text):
        return None
    number = int(text)
    return number if abs(number) < 1 << 64 else None


def token_of(value: Any) -> Any:
    """A pid or tid: int, str or None."""
    if isinstance(value, Number):
        return int(value.raw) if re.fullmatch(r"-?[0-9]+", value.raw) else value.raw
    return value if value is None else text_of(value)


def fnv1a(text: str) -> int:
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & (2**64 - 1)
    return h


def read(text: bytes) -> Oracle:
    """The whole trace, strictly parsed."""
    root = json.loads(
        text.decode("utf-8-sig", errors="replace"),
        strict=False,
        parse_int=Number.read,
        parse_float=Number.read,
        parse_constant=lambda word: float(word.replace("Infinity", "inf")),
    )
    out = Oracle()
    if isinstance(root, list):
        items = root
    else:
        items = root.pop("traceEvents", [])
        out.head = root
    out.items = len(items)
    for item in items:
        _take(out, item)
    return out


def _take(out: Oracle, item: Any) -> None:
    if not isinstance(item, dict):
        return
    phase = item.get("ph")
    if not isinstance(phase, str) or not phase:
        return
    args = item.get("args")
    args = args if isinstance(args, dict) else None
    pid, tid = token_of(item.get("pid")), token_of(item.get("tid"))
    if phase == "M":
        value = None
        for key, found in (args or {}).items():  # the last one wins, as written
            if key in ("name", "labels", "sort_index"):
                value = found
        entry = (text_of(item.get("name")), pid, tid, text_of(value))
        if entry not in out.meta:
            out.meta.append(entry)
        return
    start = ns_of(item.get("ts"))
    if not isinstance(start, int):
        return
    category = text_of(item.get("cat"))
    if phase in ("s", "t", "f"):
        given = item.get("id")
        if given is None:
            return
        flow = integer_of(given) if isinstance(given, Number) else None
        flow = fnv1a(text_of(given)) if flow is None else flow % 2**64
        lane = _lane(pid, tid, args)
        out.flows.append((flow, start, lane, phase, category))
        return
    assert phase not in ("B", "E"), "begins and ends are tested by hand"
    dur = -1
    if phase == "X":
        read_dur = ns_of(item.get("dur"))
        if read_dur == "far":
            return
        dur = read_dur if isinstance(read_dur, int) and read_dur >= 0 else -1
    row: dict[str, Any] = {
        "start_ns": start,
        "dur_ns": dur,
        "name": text_of(item.get("name")),
        "category": category,
        "phase": ord(phase[0]),
        "lane": _lane(pid, tid, args),
        "args": args,
        "ints": {},
        "texts": {},
    }
    for column, keys in ID_ARGS.items():
        value = None
        for key, found in (args or {}).items():
            if key in keys:
                value = integer_of(found)
        row[column] = value if value is not None and 0 <= value < 2**64 - 1 else None
    for key in INT_ARGS:
        number = integer_of((args or {}).get(key))
        if number is not None and number >= -(2**63):
            row["ints"][key] = number - 2**64 if number >= 2**63 else number
    for key in TEXT_ARGS:
        if (args or {}).get(key) is not None:
            found = args[key]  # type: ignore[index]
            row["texts"][key] = found if isinstance(found, list | dict) else text_of(found)
    out.rows.append(row)


def _lane(pid: Any, tid: Any, args: dict[str, Any] | None) -> tuple[Any, Any, Any, Any]:
    ordinals = []
    for key in ("device", "stream"):
        number = integer_of((args or {}).get(key))
        ordinals.append(number if number is not None and abs(number) < 2**63 else None)
    return (pid, tid, ordinals[0], ordinals[1])


def scan(text: bytes, chunk: int = 1 << 20, **limits: Any) -> _native.ScanResult:
    """The scanner's answer, the text fed in pieces of ``chunk`` bytes."""
    scanner = _native.Scanner(**limits)
    view = memoryview(text)
    for at in range(0, len(text), chunk):
        scanner.feed(view[at : at + chunk])
    return scanner.finish()


def ids(column: Any, rows: int) -> list[int | None]:
    """An identifier column as integers and None."""
    if column is None:
        return [None] * rows
    missing = np.iinfo(column.dtype).max
    return [None if v == missing else v for v in column.tolist()]


def same(result: _native.ScanResult, oracle: Oracle, text: bytes, args: bool = True) -> None:
    """Asserts equality in every column of every item."""
    rows = oracle.rows
    n = len(rows)
    assert result.items == oracle.items
    assert result.text_bytes == len(text)
    assert len(result.start_ns) == n
    assert result.start_ns.tolist() == [r["start_ns"] for r in rows]
    assert result.dur_ns.tolist() == [r["dur_ns"] for r in rows]
    assert result.phase.tolist() == [r["phase"] for r in rows]
    assert [result.names[i] for i in result.name] == [r["name"] for r in rows]
    assert [result.categories[i] for i in result.category] == [r["category"] for r in rows]
    assert [result.lanes[i] for i in result.lane] == [r["lane"] for r in rows]
    assert [tuple(map(type, result.lanes[i])) for i in result.lane] == [
        tuple(map(type, r["lane"])) for r in rows
    ]
    for column in ID_ARGS:
        assert ids(getattr(result, column), n) == [r[column] for r in rows], column
        if all(r[column] is None for r in rows):
            assert getattr(result, column) is None
    for key in INT_ARGS:
        wanted = [(i, r["ints"][key]) for i, r in enumerate(rows) if key in r["ints"]]
        row, value = result.int_args.get(key, (np.empty(0), np.empty(0)))
        assert list(zip(row.tolist(), value.tolist(), strict=True)) == wanted, key
    for key in TEXT_ARGS:
        found = [(i, r["texts"][key]) for i, r in enumerate(rows) if key in r["texts"]]
        at, spelling = result.text_args.get(key, (np.empty(0), np.empty(0)))
        assert at.tolist() == [i for i, _ in found], key
        for got, (_, want) in zip(spelling.tolist(), found, strict=True):
            spelt = result.texts[got]
            assert (json.loads(spelt) if isinstance(want, list | dict) else spelt) == want, key
    if result.args_offset is None or result.args_length is None:
        assert all(r["args"] is None for r in rows)
    elif args:
        spans = zip(result.args_offset.tolist(), result.args_length.tolist(), strict=True)
        for (offset, length), r in zip(spans, rows, strict=True):
            if r["args"] is None:
                assert length == 0
                continue
            raw = text[offset : offset + length]
            assert (raw[:1], raw[-1:]) == (b"{", b"}")
            assert _load(raw) == r["args"]
    flow_lanes = [result.lanes[i] for i in result.flow_lane]
    flow_categories = [result.categories[i] for i in result.flow_category]
    flow_phases = [chr(p) for p in result.flow_phase]
    assert (
        list(
            zip(
                result.flow_id.tolist(),
                result.flow_ns.tolist(),
                flow_lanes,
                flow_phases,
                flow_categories,
                strict=True,
            )
        )
        == oracle.flows
    )
    assert result.meta == oracle.meta
    assert {k: _load(raw) for k, raw, _ in result.head} == oracle.head
    for _, raw, offset in result.head:
        assert text[offset : offset + len(raw)] == raw


def _load(raw: bytes) -> Any:
    return json.loads(
        raw.decode(errors="replace"),
        strict=False,
        parse_int=Number.read,
        parse_float=Number.read,
        parse_constant=lambda word: float(word.replace("Infinity", "inf")),
    )
