"""Broken and hostile texts: the exact rows kept, and what is counted as lost, and where."""

from __future__ import annotations

import time
from typing import Any

import pytest

from laptime import _native
from tests.scan.oracle import scan

GOOD = '{"ph": "X", "ts": 1, "dur": 2, "name": "good", "pid": 1, "tid": 2}'
LAST = '{"ph": "X", "ts": 9, "dur": 1, "name": "last", "pid": 1, "tid": 2}'


def trace(*items: str, tail: str = "") -> bytes:
    return (
        '{"schemaVersion": 1, "traceEvents": [\n' + ",\n".join(items) + "\n]" + tail + "}"
    ).encode()


def both(text: bytes, **limits: int) -> _native.ScanResult:
    """The same answer whole and byte by byte."""
    whole = scan(text, **limits)
    for chunk in (1, 3, 64):
        cut = scan(text, chunk, **limits)
        assert (cut.losses, cut.items, cut.counters, cut.head) == (
            whole.losses,
            whole.items,
            whole.counters,
            whole.head,
        )
        assert kept(cut) == kept(whole)
    return whole


def kept(result: _native.ScanResult) -> list[tuple[str, int, int]]:
    return [
        (result.names[n], s, d)
        for n, s, d in zip(
            result.name.tolist(), result.start_ns.tolist(), result.dur_ns.tolist(), strict=True
        )
    ]


GOOD_ROW, LAST_ROW = ("good", 1000, 2000), ("last", 9000, 1000)


def x(**fields: str) -> str:
    """An item of phase X, its values as raw JSON."""
    given = {"ph": '"X"', "ts": "5", "dur": "1", "name": '"odd"'} | fields
    return "{" + ", ".join(f'"{k}": {v}' for k, v in given.items()) + "}"


@pytest.mark.parametrize(
    ("ts", "dur", "row"),
    [
        ("1623142623460111", "25", (1623142623460111000, 25000)),
        ("1365627949842.376", "0.001", (1365627949842376, 1)),
        ('"123.4"', '" 5 "', (123400, 5000)),
        ("1.5e3", "2E-2", (1500000, 20)),
        ("0.0005", "0.0015", (0, 2)),
        ("0.00050000000000000000000000000001", "0.0025", (1, 2)),
        ("-3", "1.", (-3000, 1000)),
        ("4611686018427387.903", "1", (4611686018427387903, 1000)),
        ("1" + "0" * 5000 + "e-5000", "0e99999999999999999999", (1000, 0)),
    ],
)
def test_times_are_exact(ts: str, dur: str, row: tuple[int, int]) -> None:
    result = both(trace(x(ts=ts, dur=dur)))
    assert kept(result) == [("odd", *row)]
    assert result.losses == []


def test_rounding_and_text_numbers_are_counted() -> None:
    result = both(trace(x(ts="0.00051", dur='"7"'), x(ts="0.1230")))
    assert kept(result) == [("odd", 1, 7000), ("odd", 123, 1000)]
    assert result.counters["fraction_digits_beyond_ns"] == 1
    assert result.counters["numbers_as_text"] == 1


@pytest.mark.parametrize(
    ("fields", "dur_ns", "reason"),
    [
        ({"dur": "-4"}, -1, "negative duration"),
        ({"dur": "NaN"}, -1, "duration is not a number"),
        ({"dur": "-inf"}, -1, "duration is not a number"),
        ({"dur": "Infinity"}, -1, "duration is not a number"),
        ({"dur": "nan(ind)"}, -1, "duration is not a number"),
        ({"dur": '"soon"'}, -1, "duration is not a number"),
        ({"dur": "[1]"}, -1, "duration is not a number"),
        ({"dur": "null"}, -1, None),
        ({"dur": ""}, -1, None),
        ({"dur": "18446744073709551"}, None, "duration out of range"),
        ({"dur": "9" * 3000}, None, "duration out of range"),
        ({"ts": "1e999999999"}, None, "time stamp out of range"),
        ({"ts": "4611686018427387.904"}, None, "time stamp out of range"),
        ({"ts": "NaN"}, None, "time stamp missing or not a number"),
        ({"ts": "null"}, None, "time stamp missing or not a number"),
        ({"ts": "12..5"}, None, "time stamp missing or not a number"),
        ({"ph": '""'}, None, "item without phase"),
        ({"ph": "7"}, None, "item without phase"),
    ],
)
def test_values_that_are_no_time(
    fields: dict[str, str], dur_ns: int | None, reason: str | None
) -> None:
    text = trace(GOOD, x(**fields), LAST)
    result = both(text)
    odd = [] if dur_ns is None else [("odd", 5000, dur_ns)]
    assert kept(result) == [GOOD_ROW, *odd, LAST_ROW]
    at = text.index(b"{", text.index(b"good") + 1)
    assert result.losses == ([(at, reason, 1)] if reason else [])
    assert result.items == 3


@pytest.mark.parametrize(
    ("name", "read", "counter"),
    [
        ('foo "bar" baz', 'foo "bar" baz', "raw_quotes"),
        ("C:\\dir\\new", "C:\\dir\new", "bad_escapes"),
        ("re \\d+ \\u12", "re \\d+ \\u12", "bad_escapes"),
        ("C:\\temp dir\\", "C:\temp dir\\", "bad_escapes"),
        ("two\nlines\tand\x01", "two\nlines\tand\x01", "raw_control_characters"),
        ("\\ud83d\\ude00 \\u00e9", "😀 é", None),
        ("\\ud83d alone", "\ufffd alone", "lone_surrogates"),
        ('quoted \\"x\\", fine', 'quoted "x", fine', None),
    ],
)
def test_names(name: str, read: str, counter: str | None) -> None:
    result = both(trace(GOOD, x(name=f'"{name}"', cat='"k"'), LAST))
    assert kept(result) == [GOOD_ROW, (read, 5000, 1000), LAST_ROW]
    assert result.losses == []
    for odd in ("raw_quotes", "bad_escapes", "raw_control_characters", "lone_surrogates"):
        assert (result.counters[odd] > 0) == (odd == counter), odd


def test_invalid_utf8_is_kept_with_replacement() -> None:
    text = trace(x(name='"bad @ byte"')).replace(b"@", b"\xff\xc0")
    result = both(text)
    assert kept(result) == [("bad \ufffd\ufffd byte", 5000, 1000)]
    assert result.counters["invalid_utf8"] == 1


def test_accepted_structure() -> None:
    items = [
        '{"ph":"X","ts":1,"dur":2,"name":"good","args":{"a":1,},}',
        '{"ph": "X", "ts": 2, "ts": 3, "dur": 1 "name": "no comma"}',
        LAST + " ",
    ]
    result = both(trace(*items).replace(b"\n]", b",\n]"))
    assert kept(result) == [GOOD_ROW, ("no comma", 3000, 1000), LAST_ROW]
    assert result.losses == []
    assert result.counters["trailing_commas"] == 3
    assert result.counters["missing_commas"] == 1
    assert result.counters["duplicate_keys"] == 1


@pytest.mark.parametrize(
    "broken",
    [
        '{"ph": "X", "ts": 5, oops }',
        '{"ph": "X", "ts": 5, "name": "no end, "pid": 1, "tid": 2}',
        '{"ph": "X", "ts": 5, "args": {"a": [1, 2}, "pid": 1}',
        '{"ph": "X", "ts": 5, "args": {"a": [{}, {}]], "pid": 1}',
        '{"ph": "X", "ts": 5 "x" 7}',
        '{"ph": "X", "ts"; 5}',
        "{'ph': 'X', 'ts': 5}",
        '"ph": "X", "ts": 5}',
        '{"ph": "X", "ts": 5}}',
        '{"ph": "X", "name": "x',
        "\x00\x01garbage{{{",
    ],
)
def test_one_broken_item_costs_one_row(broken: str) -> None:
    text = trace(GOOD, broken, LAST, tail=', "traceName": "t"')
    result = both(text)
    rows = [r for r in kept(result) if r[0] != ""]
    assert rows == [GOOD_ROW, LAST_ROW]
    at = text.index(broken.encode()[:4], text.index(b"good"))
    assert len(result.losses) >= 1
    assert at <= result.losses[0][0] <= at + len(broken)
    assert [h[0] for h in result.head] == ["schemaVersion", "traceName"]
    assert result.counters["bytes_skipped"] <= len(broken) + 4


def test_items_that_are_no_objects() -> None:
    text = trace(GOOD, "7", '"x"', "[1, [2]]", "null", LAST)
    result = both(text)
    assert kept(result) == [GOOD_ROW, LAST_ROW]
    assert result.losses == [(text.index(b"7,"), "item is not an object", 4)]
    assert result.items == 6


def test_cut_inside_an_item_and_between_items() -> None:
    text = trace(GOOD, LAST)
    inside = text.index(b"last")
    result = both(text[:inside])
    assert kept(result) == [GOOD_ROW]
    start = text.rindex(b"{", 0, inside)
    assert result.losses == [(start, "text ends inside the trace", 1)]
    between = text.index(b"{", text.index(b"good")) - 1
    result = both(text[:between])
    assert kept(result) == [GOOD_ROW]
    assert result.losses == [(between, "text ends inside the trace", 1)]
    assert result.counters["truncated"] == 1


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"   \n",
        b"<html><body>502 Bad Gateway</body></html>",
        b"\x80\x02}q\x00",
        b"\x00" * 300,
        trace(GOOD).decode().encode("utf-16"),
        trace(GOOD).decode().encode("utf-16-le"),
        trace(GOOD).decode().encode("utf-16-be"),
        trace(GOOD).decode().encode("utf-32-le"),
    ],
)
def test_not_json(text: bytes) -> None:
    result = both(text)
    assert result.root == "none"
    assert (result.items, len(result.start_ns), result.text_bytes) == (0, 0, len(text))


def test_other_roots() -> None:
    assert both(b'{"traceEvents":[]}').root == "object"
    assert both(b"\xef\xbb\xbf" + trace(GOOD)).counters["bom"] == 1
    as_list = both(f"[{GOOD},{LAST}]".encode())
    assert (as_list.root, kept(as_list)) == ("list", [GOOD_ROW, LAST_ROW])
    padded = both(trace(GOOD) + b"\x00" * 1000)
    assert (kept(padded), padded.losses) == ([GOOD_ROW], [])
    no_array = both(b'{"traceEvents": null, "a": {"b": [1]}}')
    assert no_array.losses == [(16, "traceEvents is not an array", 1)]
    assert no_array.head == [("traceEvents", b"null", 16), ("a", b'{"b": [1]}', 27)]


def test_text_after_the_end() -> None:
    text = trace(GOOD)
    result = both(text + b"\ntrailing words")
    assert kept(result) == [GOOD_ROW]
    assert result.losses == [(len(text) + 1, "text after the end of the trace", 1)]


def test_items_behind_a_false_end_are_kept() -> None:
    text = trace(GOOD) + b",\n" + LAST.encode() + b"]}"
    result = both(text)
    assert kept(result) == [GOOD_ROW, LAST_ROW]


def test_depth_limit() -> None:
    deep = "[" * 600 + "]" * 600
    text = trace(GOOD, x(args='{"a": ' + deep + "}"), LAST)
    result = both(text)
    assert kept(result) == [GOOD_ROW, LAST_ROW]
    at = text.index(b"{", text.index(b"good") + 1)
    assert result.losses == [(at, "nested too deeply", 1)]
    assert kept(both(text, max_depth=600))[1] == ("odd", 5000, 1000)
    half = trace(GOOD, '{"ph": "X", "ts": 1, "args": {"a": ' + '{"a":' * 100000)
    assert kept(both(half)) == [GOOD_ROW] if len(half) < 1 else kept(scan(half)) == [GOOD_ROW]


def test_string_limit() -> None:
    text = trace(GOOD, x(name='"' + "n" * 3000 + '"'), LAST)
    result = both(text, max_string_bytes=1000)
    assert kept(result) == [GOOD_ROW, LAST_ROW]
    at = text.index(b"{", text.index(b"good") + 1)
    assert result.losses == [(at, "string too long", 1)]
    assert len(kept(both(text, max_string_bytes=3000))) == 3


def test_head_limit() -> None:
    text = trace(GOOD, tail=', "big": {"a": ["' + "]}" * 500 + '"]}, "traceName": "t"')
    result = both(text, max_head_bytes=100)
    assert kept(result) == [GOOD_ROW]
    assert result.losses == [(text.index(b'{"a"'), "top-level value too large", 1)]
    assert [h[0] for h in result.head] == ["schemaVersion", "traceName"]


def test_item_limit() -> None:
    text = trace(GOOD, x(args='{"a": [' + "1, " * 1000 + "1]}"), LAST)
    result = scan(text, 64, max_item_bytes=500)
    assert kept(result) == [GOOD_ROW, LAST_ROW]
    at = text.index(b"{", text.index(b"good") + 1)
    assert result.losses == [(at, "item too large", 1)]


def test_name_table_limit() -> None:
    text = trace(GOOD, x(name='"' + "n" * 300 + '"'), x(name='"good"'))
    result = both(text, max_name_table_bytes=100)
    assert [r[0] for r in kept(result)] == ["good", "", "good"]
    at = text.index(b"{", text.index(b"good") + 1)
    assert result.losses == [(at, "name table full", 1)]


def test_ids_keep_their_whole_range() -> None:
    def args(value: str) -> str:
        return x(args='{"correlation": ' + value + "}")

    narrow = both(trace(GOOD, args("7"), args("-1"), args('"8"'), args("4294967294"), args("1.5")))
    assert narrow.correlation is not None
    assert str(narrow.correlation.dtype) == "uint32"
    missing = 2**32 - 1
    assert narrow.correlation.tolist() == [missing, 7, missing, 8, 4294967294, missing]
    wide = both(trace(GOOD, args("7"), args("4294967295"), args(str(2**64 - 2)), args(str(2**64))))
    assert wide.correlation is not None
    assert wide.correlation.tolist() == [2**64 - 1, 7, 4294967295, 2**64 - 2, 2**64 - 1]
    assert wide.counters["ids_out_of_range"] == 1
    assert both(trace(GOOD)).correlation is None


def be(ph: str, ts: int, name: str = "", tid: int = 1) -> str:
    named = f', "name": "{name}"' if name else ""
    return f'{{"ph": "{ph}", "ts": {ts}, "pid": 1, "tid": {tid}{named}}}'


def test_begins_and_ends() -> None:
    text = trace(
        be("B", 1, "outer"),
        be("B", 2, "left open"),
        be("B", 3, "inner"),
        be("E", 4),
        be("E", 7, "outer"),
        be("E", 8),
        be("B", 9, "never", tid=2),
        '{"ph": "X", "ts": 10, "dur": 5, "name": "x", "pid": 1, "tid": 2}',
    )
    result = both(text)
    assert kept(result) == [
        ("outer", 1000, 6000),
        ("left open", 2000, 5000),
        ("inner", 3000, 1000),
        ("never", 9000, 6000),
        ("x", 10000, 5000),
    ]
    assert bytes(result.phase) == b"XBXBX"
    assert result.items == 8
    assert sorted(result.losses) == [
        (text.index(be("B", 2, "left open").encode()), "begin without end", 2),
        (text.index(be("E", 8).encode()), "end without begin", 1),
    ]
    assert result.counters["matched_pairs"] == 2


def test_flows_and_metadata() -> None:
    text = trace(
        '{"ph": "s", "id": "0xab", "ts": 1, "pid": 1, "tid": 1, "cat": "c"}',
        '{"ph": "f", "ts": 1}',
        '{"ph": "M", "name": "process_name", "pid": "p", "args": {"name": "python"}}',
        '{"ph": "M", "name": "process_name", "pid": "p", "args": {"name": "python"}}',
        '{"ph": "M", "name": "sort", "tid": 3, "args": {"sort_index": -5}}',
    )
    result = both(text)
    assert len(result.flow_id) == 1
    assert result.counters["flow_ids_hashed"] == 1
    assert result.losses == [(text.index(b'{"ph": "f"'), "flow without id", 1)]
    assert result.meta == [("process_name", "p", None, "python"), ("sort", None, 3, "-5")]


HOSTILE: dict[str, Any] = {
    "open items": b'{"traceEvents":[' + b',{"ph":"X","name":"' * 200_000,
    "open nested": b'{"traceEvents":[' + b',{"args":[' * 300_000,
    "open objects": b'{"traceEvents":[' + b'{"ph":{' * 300_000,
    "quotes": b'{"traceEvents":[{"ph":"X","name":"' + b'a"b' * 1_000_000,
    "backslashes": b'{"traceEvents":[{"ph":"X","name":"' + b"\\" * 3_000_001,
    "spaces": b'{"traceEvents":[' + b" " * 3_000_000 + b"{" + b" " * 3_000_000,
    "brackets": b'{"traceEvents":[{"ph":"X",' + b"}]" * 1_000_000,
    "digits": b'{"traceEvents":[{"ph":"X","ts":' + b"1" * 3_000_000,
    "keys": b"{" + b'"a":' * 500_000,
    "commas": b'{"traceEvents":[' + b"," * 3_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_take_linear_time(name: str) -> None:
    text = HOSTILE[name]
    for chunk in (1 << 20, 4096):
        began = time.process_time()
        result = scan(text, chunk)
        assert time.process_time() - began < 5
        assert result.text_bytes == len(text)
        assert len(result.start_ns) == 0


def test_scanner_is_used_once() -> None:
    scanner = _native.Scanner()
    scanner.feed(memoryview(trace(GOOD)))
    scanner.finish()
    with pytest.raises(RuntimeError, match="finished"):
        scanner.finish()
    with pytest.raises(RuntimeError, match="finished"):
        scanner.feed(b"x")
    with pytest.raises(TypeError):
        _native.Scanner().feed("text")  # type: ignore[arg-type]
