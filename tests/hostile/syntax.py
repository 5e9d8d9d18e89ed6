"""Traces whose JSON is broken, unusual or written by another program."""

from __future__ import annotations

import json

from tests.hostile.containers import of
from tests.hostile.pieces import changed, events, header, listed, raw, trace
from tests.hostile.running import ANSWER, ERROR, NOTHING, Case

SOUND = trace(events())
LINES = [json.dumps(e).encode() for e in events()]
HEAD = json.dumps(header()).encode()[1:-1] + b","
OVERRIDE = "a\u202etxt.exe\u2066\u200f"
ACTING = "\x1b[31mred\x1b[0m\x07\r\x9b2J"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


def with_comments() -> bytes:
    return listed([b"/* one */" + line for line in LINES], HEAD)


def without_commas() -> bytes:
    return b"{" + HEAD + b'"traceEvents":[' + b"\n".join(LINES) + b"]}"


def utf8(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")


def named(name: bytes) -> bytes:
    """The sound trace with every name replaced by a literal, but for marks and calls."""
    out = []
    for event in events():
        line = json.dumps({**event, "name": "@"}) if event["cat"] in ("cpu_op", "kernel") else None
        text = json.dumps(event) if line is None else line
        out.append(text.encode().replace(b'"@"', name))
    return listed(out, HEAD)


def every_phase() -> list[dict[str, object]]:
    others = [chr(c) for c in range(33, 127) if chr(c) not in 'X"\\']
    return [*events(), *({**e, "ph": ph} for ph in others for e in events(1)[:3])]


CASES = [
    Case("byte order mark", of(b"\xef\xbb\xbf" + SOUND), ANSWER),
    Case("line ends of CR", of(b"\r".join(SOUND.split(b", "))), ERROR | ANSWER),
    Case("line ends of CR LF", of(listed(LINES, HEAD).replace(b"\n", b"\r\n")), ANSWER),
    Case("list at the root", of(b"[" + b",".join(LINES) + b"]"), ANSWER),
    Case("list at the root, never closed", of(b"[" + b",".join(LINES) + b","), ANSWER),
    Case("trailing commas", of(listed([*LINES, b""], HEAD).replace(b"}", b",}")), ANSWER),
    Case("missing commas", of(without_commas), ANSWER, None),
    Case("comments", of(with_comments), ERROR | ANSWER, None),
    Case("one event a line, no root", of(b"\n".join(LINES)), ERROR | ANSWER, None),
    Case("two documents", of(SOUND + SOUND), ANSWER, "after the end"),
    Case("two lists of events", of(SOUND[:-1] + b', "traceEvents": []}'), ANSWER),
    Case("events are an object", of(b'{"schemaVersion":1,"traceEvents":{"a":1}}'), ERROR, "array"),
    Case("events are a string", of(b'{"schemaVersion":1,"traceEvents":"none"}'), ERROR, "array"),
    Case("events are null", of(b'{"schemaVersion":1,"traceEvents":null}'), ERROR | NOTHING),
    Case("no events", of(b'{"schemaVersion":1,"traceEvents":[]}'), NOTHING, "nothing to account"),
    Case(
        "items that are no objects", of(listed([b"1,null,[],[[{}]],true", *LINES])), ANSWER, "obj"
    ),
    Case("items without phase", of(listed([b'{"name":"x","ts":1}', *LINES])), ANSWER, "phase"),
    Case("repeated keys", of(listed([raw()[:-1] + b',"ts":7,"dur":9,"ts":8}', *LINES])), ANSWER),
    Case("every key twice", of(listed([x[:-1] + b"," + x[1:] for x in LINES], HEAD)), ANSWER),
    Case("keys with escapes", of(SOUND.replace(b'"name"', b'"\\u006eame"')), ANSWER),
    Case("keys with zero characters", of(SOUND.replace(b'"External', b'"\\u0000Ext')), ANSWER),
    Case("names with zero characters", of(named(b'"a\\u0000b"')), ANSWER),
    Case("names with raw zero bytes", of(named(b'"a\x00b"')), ANSWER),
    Case("names of lone surrogates", of(named(b'"\\ud800x\\udfff"')), ANSWER),
    Case("names of broken UTF-8", of(named(b'"\xff\xfe\xc0\xaf\xed\xa0\x80"')), ANSWER),
    Case("names with bad escapes", of(named(b'"C:\\q\\x\\u12"')), ANSWER),
    Case("names with raw line ends", of(named(b'"one\ntwo\r\n\tthree"')), ANSWER),
    Case("names with quotes inside", of(named(b'"operator"" "int>"')), ERROR | ANSWER),
    Case("names that act on a terminal", of(named(json.dumps(ACTING).encode())), ANSWER),
    Case(
        "raw names that act on a terminal", of(named(utf8(ACTING).replace(b"\\r", b"\r"))), ANSWER
    ),
    Case("names that reorder text", of(named(utf8(OVERRIDE))), ANSWER),
    Case("names of markup", of(named(json.dumps(MARKUP).encode())), ANSWER),
    Case("names of rich markup", of(named(b'"[bold red]x[/] [link=file:///etc]y[/link]"')), ANSWER),
    Case("names of 1 MB", of(lambda: named(b'"' + b"k" * (1 << 20) + b'"')), ANSWER, slow=True),
    Case("names of angle brackets", of(named(b'"' + b"a<" * 50_000 + b'"')), ANSWER),
    Case("names mangled without end", of(named(b'"_Z' + b"N1" * 20_000 + b'"')), ANSWER),
    Case("name is null", of(trace(changed(name=None))), ANSWER),
    Case("name is a number", of(trace(changed(name=7))), ANSWER),
    Case("name is a list", of(trace(changed(name=["a", {"b": 1}]))), ANSWER),
    Case("name is missing", of(trace({**e, "name": 1} for e in events())), ANSWER),
    Case("category is missing", of(listed([raw(cat="")] * 50)), ERROR | NOTHING | ANSWER),
    Case("category is a number", of(trace(changed(cat=3))), ERROR),
    Case(
        "a category for each event",
        of(lambda: trace({**e, "cat": f"c{i}"} for i, e in enumerate(events(20_000)))),
        NOTHING | ANSWER,
        "too many categories",
        slow=True,
    ),
    Case("phase is missing", of(listed([raw(ph="")] * 50)), ERROR, "phase"),
    Case("phase is a number", of(trace(changed(ph=88))), ERROR, "phase"),
    Case("phase is long", of(trace(changed(ph="XX"))), ERROR | NOTHING | ANSWER),
    Case("phases of every letter", of(lambda: trace(every_phase())), ANSWER),
]
