"""A few item templates in any order, one byte between their values changed at random."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scan import oracle
from tests.scan.alone import alone, by_themselves, check, document, forget, seen

# Templates: separators about slots, which are filled anew for each item.
TEMPLATES = [
    '{"ph": @X@, "cat": @text@, "name": @text@, "pid": @pid@, "tid": @id@,\n    "ts": @ts@, "dur": '
    '@dur@,\n    "args": {\n      "External id": @id@,"Input Dims": @any@, "correlation": @id@, '
    '"stream": @id@\n    }\n  }',
    '{"ph":@X@,"name":@text@,"pid":@pid@,"ts":@ts@,"dur":@dur@,"args":{"bytes":@id@,"x":@any@,'
    '"dtype":@text@}}',
    '{\t"ph" : @X@ ,\r\n\t"args" : { "device" : @id@ , "stream" : @id@ } ,\r\n\t"ts" : @ts@ ,'
    '\r\n\t"tid" : @pid@\r\n}',
    '{"ph": @f@, "id": @id@, "pid": @pid@, "tid": @id@, "ts": @ts@,\n    "cat": @text@}',
    '{"name": @text@, "ph": @M@, "pid": @pid@, "tid": @ts@, "args": {"name": @text@}}',
    '{"ph": @X@, "ts": @ts@, "args": @any@, "dur": @dur@}',
]
SLOTS = {
    "X": ['"X"', '"X"', '"i"'],
    "f": ['"s"', '"f"'],
    "M": ['"M"'],
    "text": ['"a"', '""', '"a\\"b"', '"b\\\\"', '"}, "', '"' + "n" * 40 + '"'],
    "pid": ["0", "41000", '"p"', "null", "-3", "1.5", "123456789012345678901"],
    "id": ["0", "7", '"7"', "-1", "4294967295", "null", "18446744073709551614"],
    "dur": ["1", "2.5", '"3"', "null", "0.001"],
    "any": ["7", '"x"', "null", "[]", "{}", '[[1, 2], {"a": "]"}]', '{"ts": 4}', "true", "1e9"],
}
BYTES = '{}[]:,"\\ \t\n\r0a-tn.\x01'


@st.composite
def template_lists(draw: st.DrawFn) -> list[tuple[list[str], bool]]:
    """Templates as separators and slots by turns, some with one byte changed; and which are so."""
    out = []
    for index in draw(st.lists(st.integers(0, len(TEMPLATES) - 1), min_size=1, max_size=3)):
        parts = re.split("@(.*?)@", TEMPLATES[index])
        out.append((parts, False))
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(parts) // 2)) * 2
            text = parts[at]
            byte = draw(st.integers(0, len(text) - 1))
            how = draw(st.integers(0, 3))
            new = "" if how == 0 else draw(st.sampled_from(BYTES))
            if how == 1 and (at, byte) != (0, 0):
                new += text[byte]  # put in before it, but never before the item
            changed_text = text[:byte] + new + text[byte + 1 :]
            other = [*parts[:at], changed_text, *parts[at + 1 :]]
            out.append((other, other != parts))
    return out


def filled(parts: list[str], number: int, draw: random.Random) -> str:
    return "".join(
        part if i % 2 == 0 else str(number) if part == "ts" else draw.choice(SLOTS[part])
        for i, part in enumerate(parts)
    )


def loads(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except ValueError:
        return False
    return True


def missing(wanted: list[Any], found: list[Any]) -> list[Any]:
    """What of ``wanted`` is not in ``found`` in that order."""
    rest = iter(found)
    return [x for x in wanted if not any(x == y for y in rest)]


def after_damage(whole: list[str], broken: str) -> None:
    """A broken item costs the same whether layouts like its own were met before or none."""
    last = '{"ph": "X", "ts": 99, "name": "last"}'
    # Behind an item in either case, here one that has no layout: the comma counts too.
    bare, led = document(["7", broken, last]), document([*whole, "7", broken, last])
    without, after = oracle.scan(bare), oracle.scan(led)
    found, first, rest = seen(after, led), by_themselves(whole), seen(without, bare)
    for key in ("rows", "flows"):
        assert found[key] == first[key] + rest[key], key
    assert after.items == len(whole) + without.items
    for key in ("bytes_skipped", "lenient_items", "missing_commas", "trailing_commas"):
        alone_too = sum(alone(item)[1][key] for item in whole)
        assert after.counters[key] == without.counters[key] + alone_too, key


@pytest.mark.parametrize("parts", [re.split("@(.*?)@", t) for t in TEMPLATES])
def test_commas_moved_after_the_layout_is_known(parts: list[str]) -> None:
    draw = random.Random(5)
    whole = [filled(parts, n, draw) for n in range(4)]
    known = whole[0]
    for at in [m.start() for m in re.finditer('[{,:]|"args": *{', known)]:
        opened = known.index("{", at) if known[at] == '"' else at
        for broken in (
            known[: opened + 1] + "," + known[opened + 1 :],
            known[:at] + known[at + 1 :],
            known[:opened] + "7" + known[opened + 1 :],
            known[: opened + 1] + "}" + known[opened + 1 :],
        ):
            if not loads(broken) and not broken.startswith("7"):
                after_damage(whole, broken)
    for broken in (
        '{"ph": "X", "ts": 5, "args": {, "dur": 4}}',
        '{"ph": "X", "ts": 5, "args": 7"dur": 4}',
        '{"ph": "X", "ts": 5, "args": 7"Seq": 4}',
        '{, "ph": "X", "ts": 5}',
    ):
        ways = ('7, "dur": 3', '{"Seq": 3}, "dur": 3', '{"Seq": 3}')
        after_damage([f'{{"ph": "X", "ts": 5, "args": {way}}}' for way in ways], broken)


@settings(max_examples=300, deadline=None)
@given(template_lists(), st.integers(2, 24), st.randoms(use_true_random=False))
def test_templates_with_one_byte_changed(
    templates: list[tuple[list[str], bool]], count: int, draw: random.Random
) -> None:
    items, whole = [], []
    for number in range(count):
        parts, touched = draw.choice(templates)
        items.append(filled(parts, number, draw))
        if not touched:
            whole.append(items[-1])
    forget()
    text = document(items)
    result = oracle.scan(text)
    if all(map(loads, items)):
        check(items, (1, draw.randrange(2, 400)))
        return
    found = seen(result, text)
    if whole:
        for key, wanted in by_themselves(whole).items():
            assert missing(wanted, found[key]) == [], key
    assert len(found["rows"]) + len(found["flows"]) <= count
    for item in [item for item in items if not loads(item)][:4]:
        after_damage(whole[:6], item)
    for chunk in (1, draw.randrange(2, 400)):
        cut = oracle.scan(text, chunk)
        assert seen(cut, text) == found
        assert (cut.losses, cut.counters) == (result.losses, result.counters)
