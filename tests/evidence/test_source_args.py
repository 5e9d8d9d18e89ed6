"""Arguments read again: equal to direct slices of the text, whatever form the text is stored in."""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laptime.evidence.args import ArgReader
from laptime.evidence.argtext import parsed_args
from laptime.evidence.source import Source
from laptime.evidence.textat import MAX_POINTS, GzipAt
from laptime.model.errors import UnreadableInput
from tests.evidence.text import arg_spans, frames, members, trace_text, whole

TEXT = trace_text(30_000)
OFFSET, LENGTH = arg_spans(TEXT)
FORMS = {
    "plain": TEXT,
    "gzip": gzip.compress(TEXT, 6, mtime=0),
    "members": members(TEXT, 150_000),
    "zstd": frames(TEXT, len(TEXT)),
    "frames": frames(TEXT, 200_000),
}


def reader_of(path: Path, form: str, once: bool) -> ArgReader:
    if once:
        source = Source(io.BytesIO(FORMS[form]))
    else:
        path.write_bytes(FORMS[form])
        source = Source(path)
    assert whole(source.chunks()) == TEXT
    return ArgReader(source, OFFSET, LENGTH)


def expected(rows: list[int]) -> list[bytes]:
    return [TEXT[int(OFFSET[r]) : int(OFFSET[r]) + int(LENGTH[r])] for r in rows]


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("form", list(FORMS))
def test_texts_equal_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, once: bool
) -> None:
    monkeypatch.setattr("laptime.evidence.textat.SPACING_BYTES", 300_000)
    reader = reader_of(tmp_path / "t", form, once)
    assert reader.unavailable is None
    rng = np.random.default_rng(7)
    for n in (1, 3, 20, len(OFFSET), 5, 1, 0):
        rows = rng.integers(0, len(OFFSET), n)
        assert reader.texts(rows) == expected(rows.tolist())
    rows = np.array([5, 29_999, 0, 5])
    assert reader.fetch(rows) == [json.loads(t) for t in expected([5, 29_999, 0, 5])]
    assert reader(rows) == reader.fetch(rows)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, len(OFFSET) - 1), max_size=6), min_size=1, max_size=5))
def test_any_order_of_asking(
    tmp_path_factory: pytest.TempPathFactory, asked: list[list[int]]
) -> None:
    path = tmp_path_factory.mktemp("args") / "t"
    readers = [reader_of(path, "members", once) for once in (True, False)]
    for rows in asked:
        for reader in readers:
            assert reader.texts(np.array(rows, dtype=np.int64)) == expected(rows)


def test_rows_without_arguments(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(TEXT)
    absent = np.array([0, np.iinfo(np.uint32).max, LENGTH[2]], dtype=np.uint32)
    reader = ArgReader(Source(tmp_path / "t"), OFFSET[:3], absent)
    assert reader.texts(np.arange(3)) == [None, None, expected([2])[0]]


def test_damaged_gzip_gives_the_same_offsets(tmp_path: Path) -> None:
    data = bytearray(FORMS["members"])
    middle = len(data) // 2
    data[middle : middle + 50] = b"\xff" * 50
    (tmp_path / "t").write_bytes(bytes(data))
    source = Source(tmp_path / "t")
    text = whole(source.chunks())
    assert source.losses
    offset, length = arg_spans(text)
    assert len(offset) > 25_000
    rows = np.arange(len(offset))[::7]
    got = ArgReader(source, offset, length).texts(rows)
    assert got == [text[int(offset[r]) : int(offset[r]) + int(length[r])] for r in rows.tolist()]


def test_index_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laptime.evidence.textat.SPACING_BYTES", 4_000)
    (tmp_path / "t").write_bytes(FORMS["members"])
    index = GzipAt(Source(tmp_path / "t").stored)
    start, pieces = index.text_from(0)
    assert start == 0
    assert whole(pieces) == TEXT
    assert 1 < index.points <= MAX_POINTS
    for offset in (0, 1, len(TEXT) // 2, len(TEXT) - 1):
        start, pieces = index.text_from(offset)
        assert start == index.start_before(offset) <= offset
        assert whole(pieces) == TEXT[start:]


def test_pickled_reader_reads(tmp_path: Path) -> None:
    reader = reader_of(tmp_path / "t", "gzip", once=False)
    reader.texts(np.array([1]))
    again = pickle.loads(pickle.dumps(reader))
    assert again.texts(np.array([9, 4])) == expected([9, 4])


def test_changed_source_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t"
    reader = reader_of(path, "plain", once=False)
    assert reader.texts(np.array([1])) == expected([1])
    changed = bytearray(TEXT)
    changed[len(TEXT) // 2] ^= 1
    before = path.stat()
    path.write_bytes(bytes(changed))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    with pytest.raises(UnreadableInput, match="changed since it was read; read it again"):
        reader.fetch(np.array([1]))
    path.write_bytes(TEXT[:-1])
    with pytest.raises(UnreadableInput, match="changed since"):
        reader.fetch(np.array([1]))
    path.unlink()
    with pytest.raises(Exception, match="no such file"):
        reader.fetch(np.array([1]))


def test_touched_small_file_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(TEXT[:100_000])
    source = Source(path)
    os.utime(path, ns=(1, 1))
    assert ArgReader(source, OFFSET[:9], LENGTH[:9]).texts(np.array([2])) == expected([2])


def test_spill_forbidden() -> None:
    source = Source(io.BytesIO(FORMS["gzip"]), spill=False)
    assert whole(source.chunks()) == TEXT
    reader = ArgReader(source, OFFSET, LENGTH)
    assert source.spill is None
    assert "no temporary copy was allowed" in (reader.unavailable or "")
    assert reader.fetch(np.array([3, 1])) == [None, None]


def test_spill_closed_or_unfinished() -> None:
    source = Source(io.BytesIO(FORMS["gzip"]))
    chunks = source.chunks()
    next(chunks)
    chunks.close()  # type: ignore[attr-defined]
    reader = ArgReader(source, OFFSET, LENGTH)
    assert "not read to its end" in (reader.unavailable or "")
    assert reader.texts(np.array([len(OFFSET) - 1])) == [None]
    source.close()
    assert "closed" in (reader.unavailable or "")
    assert reader.texts(np.array([0])) == [None]


def test_spill_is_small() -> None:
    source = Source(io.BytesIO(FORMS["plain"]))
    assert whole(source.chunks()) == TEXT
    assert source.spill is not None
    assert source.spill.text_bytes == len(TEXT)
    assert source.spill.stored_bytes < len(TEXT) / 2


def test_full_disk_ends_the_spill_not_the_read(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(io.BytesIO(FORMS["plain"]))
    chunks = source.chunks()

    class Full:
        closed = False

        def write(self, data: bytes) -> int:
            raise OSError(28, "No space left on device")

    first = next(chunks)
    assert source.spill is not None
    monkeypatch.setattr(source.spill, "_file", Full())
    assert first + whole(chunks) == TEXT
    assert "No space left" in (ArgReader(source, OFFSET, LENGTH).unavailable or "")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b'{"a": NaN, "b": -Infinity}', {"b": -math.inf}),
        (
            b'{"b": -inf, "c": +inf, "d": "inf nan"}',
            {"b": -math.inf, "c": math.inf, "d": "inf nan"},
        ),
        (b'{"f": "C:\\work\\new.py", "g": "\\d+\\n"}', {"f": "C:\\work\new.py", "g": "\\d+\n"}),
        (b'{"a": [1, 2,], }', {"a": [1, 2]}),
        (b'{"a": ",]", }', {"a": ",]"}),
        (b'{"a": "x\ny\tz"}', {"a": "x\ny\tz"}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": "q\\', None),
        (b"[1]", None),
        (b"", None),
        (b"[" * 100_000, None),
        (b'{"a": ' + b"9" * 5000 + b"}", None),
    ],
)
def test_tolerant_parsing(text: bytes, value: dict[str, object] | None) -> None:
    got = parsed_args(text)
    if got is not None:
        got = {k: v for k, v in got.items() if v == v}
    assert got == value
