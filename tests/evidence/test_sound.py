"""The fast gzip engine gives what the careful one gives, of sound files and of damaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laptime.evidence.compressed import GzipText
from laptime.evidence.sound import SoundGzip
from laptime.evidence.stored import LocalFile
from tests.evidence.text import members, trace_text

TEXT = trace_text(3_000)
MEMBERS = members(TEXT, 40_000)
ONE = members(TEXT, len(TEXT))

Losses = list[tuple[str, int]]


def both(path: Path, data: bytes, piece: int = 10_000) -> list[tuple[bytes, Losses]]:
    """Text and losses of the fast engine and of the careful one."""
    path.write_bytes(data)
    found: list[tuple[bytes, Losses]] = []
    for engine in (SoundGzip, GzipText):
        losses: Losses = []

        def lose(reason: str, at: int, losses: Losses = losses) -> None:
            losses.append((reason, at))

        decoder = engine(LocalFile(path), lose, piece_bytes=piece)
        pieces = list(decoder.pieces())
        assert all(pieces)
        decoder.reader.close()
        found.append((b"".join(pieces), losses))
    return found


@pytest.mark.parametrize("data", [ONE, MEMBERS, MEMBERS + bytes(3000)])
def test_sound_files(tmp_path: Path, data: bytes) -> None:
    fast, careful = both(tmp_path / "t", data)
    assert fast == careful == (TEXT, [])


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(20, len(MEMBERS) - 1), st.integers(1, 255)), max_size=3),
    st.integers(0, 2_000),
    st.sampled_from([b"", b"<html>", bytes(700)]),
)
def test_damaged_files(
    tmp_path_factory: pytest.TempPathFactory,
    flips: list[tuple[int, int]],
    cut: int,
    tail: bytes,
) -> None:
    data = bytearray(MEMBERS)
    for at, flip in flips:
        data[at] ^= flip
    fast, careful = both(tmp_path_factory.mktemp("t") / "t", bytes(data[: len(data) - cut]) + tail)
    assert fast == careful


def test_reserved_flags_cost_nothing_twice(tmp_path: Path) -> None:
    """A member that only the fast engine takes is in the text once, whatever comes after it."""
    parts = [members(TEXT[i : i + 40_000], 40_000) for i in range(0, 160_000, 40_000)]
    odd = bytearray(parts[1])
    odd[3] |= 0x20
    broken = parts[2][:-8] + bytes(8)
    fast, _ = both(tmp_path / "t", b"".join([parts[0], bytes(odd), broken, parts[3]]))
    assert fast[0] == TEXT[:160_000]
    assert len(fast[1]) == 1
    assert "checksum" in fast[1][0][0]
