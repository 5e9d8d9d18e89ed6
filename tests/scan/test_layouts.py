"""Items laid out like earlier ones, almost like them, and unlike them: nothing read changes.

The scanner remembers the bytes it met between two values and takes later items past the same bytes
without reading the keys again. So what an item reads as must not depend on the items before it:
each text here is compared with the oracle and with a scan of every item by itself, by a scanner
that has met no other.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from laptime import _native
from tests.scan import oracle
from tests.scan.alone import (
    STYLES,
    Pairs,
    Style,
    alone,
    by_themselves,
    check,
    document,
    seen,
    written,
)

ARGS: Pairs = (
    ("External id", "12"),
    ("Input Dims", '[[2, 3], [], "]"]'),
    ("correlation", "77"),
    ("stream", "7"),
    ("grid", '{"x": [1, {"}": "{"}]}'),
    ("bytes", "4096"),
    ("dtype", '"f32"'),
    ("note", '"' + "long " * 30 + '"'),
    ("device", "0"),
)
SLICE: Pairs = (
    ("ph", '"X"'),
    ("cat", '"kernel"'),
    ("name", '"gemm"'),
    ("pid", "0"),
    ("tid", "7"),
    ("ts", "1365627949842.376"),
    ("dur", "25.5"),
    ("args", ARGS),
)
FLOW: Pairs = (
    ("ph", '"s"'),
    ("id", "77"),
    ("pid", "0"),
    ("tid", "7"),
    ("ts", "5"),
    ("cat", '"ac2g"'),
    ("name", '"ac2g"'),
    ("args", (("device", "0"), ("stream", "7"))),
)
META: Pairs = (
    ("name", '"process_name"'),
    ("ph", '"M"'),
    ("ts", "5"),
    ("pid", "0"),
    ("tid", "0"),
    ("args", (("name", '"python"'),)),
)
PLAIN_VALUES = ["7", "-1", "1.5", "1e3", "4096", "123456789012345", "1234567890123456"]
PLAIN_VALUES += ["12345678901234567890", "true", "null", '""', '"5"', '" 5 "', '"\\""', '"\\\\"']
PLAIN_VALUES += ['"a\\\\\\""', '"}, \\"pid\\": 9"']
NESTED_VALUES = ["{}", "[]", '[1, {"a": "]"}]', '{"pid": 9, "ts": [{"}": 1}]}']
NO_RAW_TEXT = {"ph", "cat", "name", "pid", "tid", "id"}
"""Keys for whose nested values the oracle has no answer."""


def changed(pairs: Pairs) -> Iterator[Pairs]:
    """One object in other ways: order, missing, extra and repeated keys, other values."""
    given = list(pairs)
    inside_args = not any(key == "ph" for key, _ in given)
    for i, (key, value) in enumerate(given):
        yield given[:i] + given[i + 1 :]
        yield [*given[i:], *given[:i]]
        yield given[:i] + given[i : i + 2][::-1] + given[i + 2 :]
        yield [*given[:i], ("extra", '[{"ts": 1}]'), *given[i:]]
        yield [*given[:i], ("extra", "7"), *given[i:]]
        others = list(PLAIN_VALUES) if key != "ph" else ['"i"', '"n"', "7", "null", '""']
        if key not in NO_RAW_TEXT or (inside_args and key != "name"):
            others += NESTED_VALUES
        for other in others:
            yield [*given[:i], (key, other), *given[i + 1 :]]
            yield [*given[:i], (key, other), (key, value), *given[i + 1 :]]
        yield [*given[:i], (key, value), *given[i:]]
        if not isinstance(value, str):
            for inner in changed(value):
                yield [*given[:i], (key, inner), *given[i + 1 :]]
    yield given[::-1]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("pairs", [SLICE, FLOW, META], ids=["slice", "flow", "meta"])
def test_learned_then_contradicted(pairs: Pairs, style: str) -> None:
    usual = written(pairs, STYLES[style])
    others = [written(v, STYLES[style]) for v in changed(pairs)]
    # In order, each beside what it contradicts; then in any order, so that they follow each other.
    check([usual, usual, *(item for other in others for item in (other, usual))], (509,))
    random.Random(style).shuffle(others)
    check([*others[:40], usual, *others[:40], usual, *others[::-1]])


@pytest.mark.parametrize("seed", range(4))
def test_white_space_differs_from_item_to_item(seed: int) -> None:
    draw = random.Random(seed)
    spaces = ["", " ", "  ", "\t", "\n    ", "\r\n", " " * 39, " " * 45]
    styles = list(STYLES.values())
    styles += [Style(*(draw.choice(spaces) for _ in range(6))) for _ in range(12)]
    items = [written(p, s) for p in (SLICE, FLOW, META) for s in styles]
    check(draw.choices(items, k=120), (1, 61))


def test_one_byte_of_white_space_more_less_or_other() -> None:
    for n in range(46):
        given = " " * n
        near = [given[:i] + c + given[i + 1 :] for i in range(n) for c in "\t\n"]
        near += [given + " ", given[1:], given + "\r"]
        args = '"args": {"Seq": 1,%s"bytes": %d%s}%s}'
        items = []
        for k, space in enumerate(x for other in near for x in (given, other)):
            items.append('{"ph": "X", "ts": 5, ' + args % (space, k, space, space))
        check(items[:60])


def test_keys_that_differ_in_one_place() -> None:
    keys = ["bytes", "Bytes", "byte", "bytes2", "Total Allocated", "Total Allocatee", "Total"]
    keys += ["External id", "External ix", "external id", "Extern", "correlation", "correlatioN"]
    prefix = "a prefix that many keys share, "
    keys += [prefix[:n] + tail for n in (6, 14, 22, 26, 30) for tail in "abcdefghijk"]
    for length in range(24, 50):  # about the longest bytes that are remembered
        keys += ["k" * length, "k" * (length - 1) + "j", "j" + "k" * (length - 1)]
    keys += ["q" * 400, "q" * 399 + "r"]
    draw = random.Random(1)
    for style in STYLES.values():
        items = []
        for k in range(250):
            chosen: list[tuple[str, str | Pairs]] = [(key, str(k)) for key in draw.sample(keys, 3)]
            if len({key.lower() for key, _ in chosen}) < 3:
                continue  # two spellings of one identifier: which is last is another test's
            args: Pairs = [*chosen, ("bytes", "3")]
            top: list[tuple[str, str | Pairs]] = [("ph", '"X"'), ("ts", str(k)), ("args", args)]
            items.append(written([*top, (draw.choice(keys), '"x"'), ("dur", "3")], style))
        check(items)
    near = ["ts", "tts", "t", "tsx", "pid", "pidx", "pi", "Pid", "dur", "tdur", "name", "names"]
    near += ["args", "arg", "args2", "ph", "phx", "cat", "cats", "id", "id2", "tid", "tids"]
    tops = [[*SLICE[:k], (key, "9"), *SLICE[k:]] for key in near for k in (1, 5, 8) if key != "ph"]
    check([written(p, STYLES["spaced"]) for p in draw.choices(tops, k=300)])


def test_more_layouts_than_are_remembered() -> None:
    draw = random.Random(2)

    def item(number: int) -> str:
        a, b, c, d = (number // 6**k % 6 for k in range(4))
        args = f'"a{a}":1,"b{b}":[2],"c{c}":"3","d{d}":4,"bytes":{number}'
        return f'{{"ph":"X","ts":{number},"args":{{{args}}},"dur":{number % 97}}}'

    usual = written(SLICE, STYLES["spaced"])
    items = [usual, *(item(n) for n in range(6**4)), usual]
    draw.shuffle(items)
    items += [usual, *draw.choices(items, k=400), usual]
    check(items, (4093,))


def test_learning_afresh() -> None:
    # So many that do not fit what was learned that it is learned anew, in the midst of the text.
    # The same keys, in any order, in the item and in its args: no step may stray from one to the
    # other when its room is given to a new one.
    draw = random.Random(3)
    count = 24_000
    texts = []
    for n in range(count):
        args = [f'"bytes":{n}', '"ts":"x"', '"dur":-1', '"name":[0]', f'"stream":{n % 5}']
        draw.shuffle(args)
        top = [f'"ts":{n}', f'"dur":{n % 9}', '"bytes":-1', '"name":"n"', '"stream":-2']
        top += ['"ph":"X"', f'"args":{{{",".join(args)}}}']
        draw.shuffle(top)
        texts.append(f"{{{','.join(top)}}}")
    text = document(texts)
    result = oracle.scan(text, 1 << 16)
    assert result.start_ns.tolist() == [n * 1000 for n in range(count)]
    assert result.dur_ns.tolist() == [n % 9 * 1000 for n in range(count)]
    assert {result.names[i] for i in result.name} == {"n"}
    row, value = result.int_args["bytes"]
    assert row.tolist() == value.tolist() == list(range(count))
    assert [result.lanes[i][3] for i in result.lane] == [n % 5 for n in range(count)]
    assert result.losses == []


ENDINGS = [
    '\\"',
    "\\\\",
    '\\\\\\"',
    "\\n",
    '\\", \\"pid\\": 5',
    ", ",
    "}",
    "}, {",
    '\\":',
    "\\u0022",
]


@pytest.mark.parametrize("style", ["compact", "spaced", "lines"])
def test_strings_that_end_like_what_follows(style: str) -> None:
    items = []
    for length in range(72):
        for ending in ENDINGS:
            value = '"' + "n" * length + ending + '"'
            args: Pairs = [("dtype", value), ("unwanted", value), ("Seq", str(length))]
            pairs: Pairs = [("ph", '"X"'), ("name", value), ("pid", value), ("ts", "5")]
            items.append(written([*pairs, ("args", args), ("extra", value)], STYLES[style]))
    check(items, (997,))


@pytest.mark.parametrize("style", ["compact", "spaced", "lines", "tabs"])
def test_unwanted_values_of_every_size_between_wanted_ones(style: str) -> None:
    items = []
    for n in [*range(0, 70), 95, 96, 97, 127, 128, 129, 255, 256, 257, 1000, 5000]:
        ones = ", ".join("1" * n)
        for value in (
            f"[{ones}]",
            "1" * (n + 1),
            "[" * (n % 300) + "]" * (n % 300) or "0",
            '{"bytes": "' + "}" * n + '"}',
            '["' + '\\"' * n + '", {"a": []}]',
            '"' + "s" * n + '"',
        ):
            args = [("correlation", str(n)), ("unwanted", value), ("bytes", str(n + 1))]
            args += [("grid", value), ("Collective name", '"c"'), ("last", value)]
            pairs: Pairs = [("ph", '"X"'), ("ts", str(n)), ("args", args), ("dur", "1")]
            items.append(written(pairs, STYLES[style]))
    check(items)


def test_trailing_commas_and_missing_values() -> None:
    draw = random.Random(4)
    strict, loose = [], []
    for pairs in (SLICE, FLOW, META):
        for style in STYLES.values():
            strict.append(written(pairs, style))
            loose += [written(pairs, style, last) for last in (",", ",\n", " , ")]
            loose.append(written([*pairs, ("extra", "")], style))
            for item in loose[-4:]:
                found, wanted = alone(item)[0], alone(strict[-1])[0]
                for key in found:
                    assert list(map(but_args, found[key])) == list(map(but_args, wanted[key]))
    assert sum(alone(item)[1]["trailing_commas"] for item in loose) == 2 * 3 * 3 * len(STYLES)
    assert sum(alone(item)[1]["missing_values"] for item in loose) == 3 * len(STYLES)
    loose += [
        written([*SLICE[:6], ("dur", ""), ("args", (*ARGS, ("note", "")))], style)
        for style in STYLES.values()
    ]
    check(draw.choices(strict + loose, k=400), (1, 331), is_json=False)


def but_args(entry: tuple[object, ...]) -> tuple[object, ...]:
    """An entry without the raw text of its args."""
    return tuple(x for x in entry if not isinstance(x, bytes))


CUT_CASES = [
    pytest.param(pairs, style, id=f"{name}-{style}")
    for name, pairs in (("slice", SLICE), ("flow", FLOW), ("meta", META))
    for style in ("compact", "lines")
]


@pytest.mark.parametrize(("pairs", "style"), CUT_CASES)
def test_cut_short_at_every_byte(pairs: Pairs, style: str) -> None:
    usual = written(pairs, STYLES[style])
    # What follows the cut in memory is the rest of the item: no byte of it may be looked at.
    for before in (2, 30):
        text = document([usual] * (before + 1))
        start = text.rindex(usual.encode())
        wanted = by_themselves([usual] * before)
        for cut in range(start + 1, start + len(usual)):
            result = oracle.scan(memoryview(text)[:cut])  # type: ignore[arg-type]
            assert seen(result, text) == wanted
            assert result.items == before
            assert result.losses == [(start, "text ends inside the trace", 1)]


@pytest.mark.parametrize(("pairs", "style"), CUT_CASES)
def test_fed_in_two_at_every_byte(pairs: Pairs, style: str) -> None:
    usual = written(pairs, STYLES[style])
    other = written(pairs[::-1], STYLES[style])
    for before in (2, 30):
        text = document([usual] * before + [other, usual, other, usual])
        whole = oracle.scan(text)
        oracle.same(whole, oracle.read(text), text)
        wanted = seen(whole, text)
        start = text.index(other.encode())
        for cut in range(start - 1, start + len(other) + len(usual) + 4):
            scanner = _native.Scanner()
            scanner.feed(memoryview(text)[:cut])
            scanner.feed(memoryview(text)[cut:])
            result = scanner.finish()
            assert seen(result, text) == wanted
            assert result.losses == []
