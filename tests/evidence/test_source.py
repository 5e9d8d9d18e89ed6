"""Sources: every byte that can be decoded arrives, and what is lost is said."""

from __future__ import annotations

import gzip
import io
import os
import threading
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from laptime.evidence.ahead import ahead
from laptime.evidence.source import Limits, Source
from laptime.model.errors import UnreadableInput, UsageError
from tests.evidence.text import frames, members, trace_text, whole

TEXT = trace_text(12_000)
GZIP = gzip.compress(TEXT, 6, mtime=0)
MEMBERS = members(TEXT, 100_000)
ZSTD = frames(TEXT, len(TEXT))
FRAMES = frames(TEXT, 300_000)
SMALL = gzip.compress(TEXT[:300_000], 6, mtime=0)
FIRST_BLOCK = 40_000
"""No form of the text has its first zstd block end after this."""


def read(data: bytes, **options: object) -> tuple[bytes, Source]:
    source = Source(io.BytesIO(data), **options)  # type: ignore[arg-type]
    return whole(source.chunks()), source


def read_file(path: Path, data: bytes) -> tuple[bytes, Source]:
    path.write_bytes(data)
    source = Source(path)
    return whole(source.chunks()), source


@pytest.mark.parametrize("data", [TEXT, GZIP, MEMBERS, ZSTD, FRAMES])
def test_whole_text_arrives(tmp_path: Path, data: bytes) -> None:
    for text, source in (read_file(tmp_path / "t", data), read(data)):
        assert text == TEXT
        assert source.losses == []
        assert source.read_bytes == len(data)
        assert source.text_bytes == len(TEXT)
        assert source.head() == TEXT[: 64 << 10]
    assert Source(tmp_path / "t").total_bytes == len(data)
    assert source.total_bytes is None


def test_chunk_size_is_kept(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(GZIP)
    sizes = [len(c) for c in Source(tmp_path / "t").chunks(4096)]
    assert sum(sizes) == len(TEXT)
    assert max(sizes) <= 4096


def test_gzip_header_fields() -> None:
    plain = gzip.compress(TEXT, 6, mtime=0)
    header = b"\x1f\x8b\x08\x1e" + bytes(6) + b"\x03\x00abc" + b"name\0" + b"comment\0" + b"\0\0"
    text, source = read(header + plain[10:] + plain)
    assert text == TEXT + TEXT
    assert source.losses == []


@pytest.mark.parametrize("zeros", [1, 7, 512, 200_000])
def test_zero_padding_is_allowed(zeros: int) -> None:
    text, source = read(MEMBERS + bytes(zeros))
    assert text == TEXT
    assert source.losses == []


@pytest.mark.parametrize("data", [MEMBERS, FRAMES, MEMBERS + bytes(600)])
def test_trailing_garbage_is_counted(data: bytes) -> None:
    text, source = read(data + b"<html>not found")
    assert text == TEXT
    assert [loss.count for loss in source.losses] == [1]
    assert source.losses[0].reason.startswith("15 bytes after the end")
    assert source.losses[0].offset == len(TEXT)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from([GZIP, MEMBERS, ZSTD, FRAMES]), st.booleans())
def test_cut_gives_a_prefix_and_a_loss(
    tmp_path_factory: pytest.TempPathFactory, at: int, data: bytes, once: bool
) -> None:
    cut = data[: FIRST_BLOCK + at % (len(data) - FIRST_BLOCK)]
    if once:
        text, source = read(cut)
    else:
        text, source = read_file(tmp_path_factory.mktemp("cut") / "t", cut)
    assert TEXT.startswith(text)
    if data in (GZIP, MEMBERS):
        least = zlib_prefix(cut)
        assert len(text) >= least - 3
    if len(text) < len(TEXT):
        expected = 1 if not source.losses else len(source.losses)
        assert len(source.losses) == expected <= 1
        if source.losses:
            assert "truncated" in source.losses[0].reason
            assert source.losses[0].offset == len(text)
        else:
            assert len(text) % 100_000 == 0 or len(text) % 300_000 == 0


def zlib_prefix(data: bytes) -> int:
    """How much text the standard library gets from a cut gzip."""
    n = 0
    while data:
        member = zlib.decompressobj(31)
        n += len(member.decompress(data))
        data = member.unused_data
    return n


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 255), st.booleans())
def test_damaged_gzip_keeps_what_comes_before(
    tmp_path_factory: pytest.TempPathFactory, where: int, flip: int, once: bool
) -> None:
    at = 3000 + where % (len(SMALL) - 3100)
    data = bytearray(SMALL)
    data[at] ^= flip
    least = zlib_prefix_before(bytes(data))
    if once:
        text, source = read(bytes(data))
    else:
        text, source = read_file(tmp_path_factory.mktemp("bad") / "t", bytes(data))
    common = next(
        (i for i, (a, b) in enumerate(zip(text, TEXT, strict=False)) if a != b), len(text)
    )
    assert common >= zlib_prefix(SMALL[:at]) - 300
    assert len(text) >= least - 2
    assert source.losses


def zlib_prefix_before(data: bytes) -> int:
    """Text that the standard library gets by feeding byte after byte up to the damage."""
    member, n = zlib.decompressobj(31), 0
    try:
        for i in range(len(data)):
            n += len(member.decompress(data[i : i + 1]))
    except zlib.error:
        pass
    return n


def test_members_after_a_damaged_one_are_found() -> None:
    parts = [gzip.compress(TEXT[i : i + 200_000], 6, mtime=0) for i in range(0, 800_000, 200_000)]
    broken = bytearray(parts[1])
    broken[len(broken) // 2 : len(broken) // 2 + 40] = b"\xff" * 40
    text, source = read(b"".join([parts[0], bytes(broken), *parts[2:]]))
    assert text.startswith(TEXT[:250_000])
    assert text.endswith(TEXT[400_000:800_000])
    assert any("damaged" in loss.reason for loss in source.losses)


def test_damaged_frame_costs_only_itself() -> None:
    parts = [frames(TEXT[i : i + 300_000], 300_000) for i in range(0, 900_000, 300_000)]
    broken = bytearray(parts[1])
    middle = len(broken) // 2
    broken[middle : middle + 64] = bytes(64)
    text, source = read(b"".join([parts[0], bytes(broken), parts[2]]))
    assert text.startswith(TEXT[:300_000])
    assert text.endswith(TEXT[600_000:900_000])
    assert any("zstd" in loss.reason for loss in source.losses)


def test_wrong_checksums_are_recorded() -> None:
    for data in (GZIP[:-8] + b"\1\2\3\4" + GZIP[-4:], ZSTD[:-4] + b"\1\2\3\4"):
        text, source = read(data)
        assert text == TEXT
        assert [("checksum" in loss.reason, loss.count) for loss in source.losses] == [(True, 1)]


def test_skippable_frames_are_stepped_over() -> None:
    skip = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    text, source = read(skip + FRAMES + skip)
    assert text == TEXT
    assert source.losses == []


def test_zstd_without_content_size() -> None:
    compressor = zstandard.ZstdCompressor(level=3).compressobj()
    data = compressor.compress(TEXT) + compressor.flush()
    assert read(data)[0] == TEXT


def test_hostile_gzip_ends_soon() -> None:
    began = time.monotonic()
    empty = gzip.compress(b"", mtime=0) * 400_000
    assert whole(Source(io.BytesIO(GZIP + empty), spill=False).chunks()) == TEXT
    false = GZIP + b"junk" + b"\x1f\x8b\x08\x00" * 2_000_000
    text, source = read(false)
    assert text == TEXT
    assert source.losses[0].reason.startswith("8000004 bytes after the end")
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("kind", ["gzip", "zstd", "plain"])
def test_memory_is_the_stated_buffers(tmp_path: Path, kind: str) -> None:
    text = TEXT * 40
    stored = {"gzip": gzip.compress(text, 1), "zstd": frames(text, len(text)), "plain": text}
    (tmp_path / "t").write_bytes(stored[kind])
    del stored, text
    source = Source(tmp_path / "t")
    tracemalloc.start()
    try:
        count = 0
        for chunk in source.chunks():
            count += len(chunk)
            if count < 12 << 20:
                time.sleep(0.01)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 40 * len(TEXT)
    assert peak < (9 << 20)


def test_bombs_stop() -> None:
    compressor = zstandard.ZstdCompressor(level=3).compressobj()
    bomb = b"".join(compressor.compress(bytes(1 << 20)) for _ in range(256)) + compressor.flush()
    assert len(bomb) < 64 << 10
    got = sum(map(len, Source(io.BytesIO(bomb), spill=False).chunks()))
    assert 60 << 20 < got <= 66 << 20
    source = Source(io.BytesIO(bomb), limits=Limits(max_text_bytes=1_000_001), spill=False)
    assert sum(map(len, source.chunks())) == 1_000_001
    assert "limit" in source.losses[0].reason


def test_frame_with_huge_window_is_refused_with_the_mend() -> None:
    frame = zstandard.FRAME_HEADER + bytes([0b00000000, 21 << 3]) + b"\x01\x00\x00"
    with pytest.raises(UnreadableInput, match="without --long"):
        Source(io.BytesIO(frame))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"\xfd7zXZ\x00rest", "xz -dk"),
        (b"BZh91AY", "bunzip2"),
        (b"PK\x03\x04....", "zip archive"),
        ("\ufeff{}".encode("utf-16-le"), "iconv"),
        (gzip.compress("\ufeff{}".encode("utf-16-be")), "iconv"),
        (gzip.compress(b""), "no text"),
        (GZIP[:15], "truncated"),
        (b"\x1f\x8b", "truncated"),
    ],
)
def test_unreadable_input_names_the_mend(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(data)
    with pytest.raises(UnreadableInput, match=says) as caught:
        Source(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_paths_that_are_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file; check the path"):
        Source(tmp_path / "absent.json")
    with pytest.raises(UsageError, match="does not exist either"):
        Source(tmp_path / "no" / "absent.json")
    with pytest.raises(UsageError, match="a folder"):
        Source(tmp_path)
    with pytest.raises(UsageError):
        Source("a\0b")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_permission_denied(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(TEXT)
    path.chmod(0)
    with pytest.raises(UnreadableInput, match="chmod"):
        Source(path)


def test_urls(tmp_path: Path) -> None:
    import zipfile

    import fsspec

    with fsspec.open("memory://traces/a.json.gz", "wb") as file:
        file.write(MEMBERS)
    source = Source("memory://traces/a.json.gz")
    assert whole(source.chunks()) == TEXT
    assert source.total_bytes == len(MEMBERS)
    with zipfile.ZipFile(tmp_path / "z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in/a.json", TEXT)
    assert whole(Source(f"zip://in/a.json::{tmp_path / 'z.zip'}").chunks()) == TEXT
    (tmp_path / "t").write_bytes(GZIP)
    assert whole(Source(f"file://{tmp_path / 't'}").chunks()) == TEXT
    with pytest.raises(UsageError, match="no such file"):
        Source("memory://traces/absent")
    with pytest.raises(LaptimeErrors):
        Source("nonsense://traces/absent")


LaptimeErrors = (UsageError, UnreadableInput)


def laptime_threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name.startswith("laptime-read")]


def test_early_close_leaves_no_thread(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(GZIP)
    for _ in range(5):
        chunks = Source(tmp_path / "t").chunks(4096)
        next(chunks)
        assert laptime_threads()
        chunks.close()  # type: ignore[attr-defined]
        assert not laptime_threads()
    whole(Source(tmp_path / "t").chunks())
    assert not laptime_threads()


def test_error_in_the_thread_arrives_after_what_came_before() -> None:
    def make():  # type: ignore[no-untyped-def]
        yield b"a"
        yield b"b"
        raise ValueError("broken")

    items = ahead(make, 4, "laptime-read test")
    assert [next(items), next(items)] == [b"a", b"b"]
    with pytest.raises(ValueError, match="broken"):
        next(items)


def test_never_more_than_stated_chunks_wait() -> None:
    made = 0

    def make():  # type: ignore[no-untyped-def]
        nonlocal made
        for _ in range(50):
            made += 1
            yield b"x"

    items = ahead(make, 4, "laptime-read test")
    next(items)
    time.sleep(0.1)
    assert made <= 6
    assert len(list(items)) == 49


class Failing(io.RawIOBase):
    """A file that stops with an error after some bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = io.BytesIO(data)

    def read(self, n: int = -1) -> bytes:
        got = self.data.read(n)
        if not got:
            raise OSError(5, "Input/output error")
        return got


def test_read_error_is_a_loss() -> None:
    source = Source(Failing(GZIP[:-2000]))  # type: ignore[arg-type]
    text = whole(source.chunks())
    assert TEXT.startswith(text)
    assert len(text) > len(TEXT) // 2
    assert any("Input/output error" in loss.reason for loss in source.losses)
