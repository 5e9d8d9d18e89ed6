"""Files that are no trace, or a trace that was cut, damaged or wrapped."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import sqlite3
import struct
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import zstandard

from tests.hostile.pieces import events, gzip_of, listed, put, raw, trace
from tests.hostile.running import ANSWER, ERROR, USAGE, Case

Make = Callable[[Path], Sequence[str]]
SOUND = trace(events(40))
GZIP = gzip.compress(SOUND, mtime=0)
ZSTD = zstandard.compress(SOUND)


def of(data: Callable[[], bytes] | bytes, name: str = "trace.json") -> Make:
    return lambda folder: put(folder, data() if callable(data) else data, name)


def cut(data: bytes, at: float) -> bytes:
    return data[: int(len(data) * at)]


def damaged(data: bytes, at: float, n: int = 64) -> bytes:
    cut = int(len(data) * at)
    return data[:cut] + bytes(b ^ 0x5A for b in data[cut : cut + n]) + data[cut + n :]


def garbage(n: int) -> bytes:
    return random.Random(5).randbytes(n)


def sqlite(folder: Path) -> Sequence[str]:
    database = sqlite3.connect(folder / "report.sqlite")
    database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT)")
    database.commit()
    database.close()
    return [str(folder / "report.sqlite")]


def zipped(folder: Path) -> Sequence[str]:
    with zipfile.ZipFile(folder / "trace.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("trace.json", SOUND)
    return [str(folder / "trace.zip")]


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        entry = tarfile.TarInfo("trace.json")
        entry.size = len(SOUND)
        archive.addfile(entry, io.BytesIO(SOUND))
    return out.getvalue()


def png() -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + garbage(2000)


class Bomb:
    """A pickle that would run a program if it were ever loaded."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        import os

        return os.system, ("touch ran",)


ZEROS = bytes(1 << 20)
LETTERS = b"a" * (1 << 20)
DIGITS = b"7" * (1 << 20)
OPEN = b'{"traceEvents":['

CASES = [
    Case("empty", of(b""), ERROR, "is empty"),
    Case("one byte", of(b"{"), ERROR | ANSWER, None),
    Case("one byte that is no JSON", of(b"\x00"), ERROR, "zero bytes"),
    Case("white space only", of(b" \n\t\r\n" * 900), ERROR, "white space"),
    Case("zero bytes only", of(bytes(100_000)), ERROR, "zero bytes"),
    Case("web page", of(b"<!DOCTYPE html><html><body>404 Not Found</body></html>"), ERROR, "HTML"),
    Case("garbage", of(garbage(300_000)), ERROR, "binary data"),
    Case("garbage named as a trace", of(garbage(99), "rank0.pt.trace.json"), ERROR, "looks like"),
    Case("a brace and garbage", of(b"{" + garbage(300_000)), ERROR, None),
    Case("sqlite", sqlite, ERROR, "sqlite"),
    Case("pickle", of(pickle.dumps(Bomb()), "snapshot.pickle"), ERROR, "pickle"),
    Case("zip", zipped, ERROR, "zip archive"),
    Case("tar", of(tarred, "trace.tar.gz"), ERROR, "tar archive"),
    Case("picture", of(png, "plot.png"), ERROR, "picture"),
    Case("nsys report", of(garbage(5000), "run.nsys-rep"), ERROR, "Nsight Systems report"),
    Case("git lfs pointer", of(b"version https://git-lfs.github.com/spec/v1\n"), ERROR, "LFS"),
    Case("bzip2", of(b"BZh91AY&SY" + garbage(999)), ERROR, "bunzip2"),
    Case("UTF-16", of(SOUND.decode().encode("utf-16")), ERROR, "UTF-16"),
    Case("UTF-16 without a mark", of(SOUND.decode().encode("utf-16-le")), ERROR, None),
    Case("JSON of something else", of(b'{"a": [1, 2, {"b": null}]}'), ERROR, None),
    Case("text cut in the middle", of(SOUND[: len(SOUND) // 2]), ANSWER, "cut"),
    Case("text cut near the end", of(SOUND[:-3]), ANSWER, None),
    Case("text cut in the first event", of(SOUND[: SOUND.index(b"Profiler") + 3]), ERROR, None),
    Case("gzip cut in its header", of(GZIP[:7]), ERROR, "gzip"),
    Case("gzip cut in the middle", of(cut(GZIP, 0.5)), ANSWER, "gzip"),
    Case("gzip cut in its trailer", of(GZIP[:-5]), ANSWER, "gzip"),
    Case("gzip damaged early", of(damaged(GZIP, 0.1)), ANSWER | ERROR, "gzip"),
    Case("gzip damaged late", of(damaged(GZIP, 0.9)), ANSWER, "gzip"),
    Case("gzip and garbage", of(GZIP + garbage(5000)), ANSWER, "gzip"),
    Case("gzip of nothing", of(gzip.compress(b"")), ERROR, None),
    Case("gzip of gzip", of(gzip.compress(GZIP)), ERROR, "looks like"),
    Case("zstd cut", of(cut(ZSTD, 0.5)), ERROR | ANSWER, "zstd"),
    Case(
        "zstd damaged",
        of(lambda: damaged(zstandard.compress(SOUND * 9), 0.6)),
        ERROR | ANSWER,
        "zstd",
    ),
    Case("a gigabyte of zeros", of(lambda: gzip_of([(ZEROS, 1024)])), ERROR, "zero bytes"),
    Case(
        "a gigabyte of zeros inside a trace",
        of(lambda: gzip_of([(OPEN + raw() + b",", 1), (ZEROS, 1024), (b"]}", 1)])),
        ERROR | ANSWER,
        None,
        slow=True,
    ),
    Case(
        "a gigabyte in one name",
        of(lambda: gzip_of([(OPEN + raw() + b',{"name":"', 1), (LETTERS, 1024), (b'"}]}', 1)])),
        ANSWER,
        "long",
        slow=True,
    ),
    Case(
        "a gigabyte in one number",
        of(lambda: gzip_of([(OPEN + raw() + b',{"ts":', 1), (DIGITS, 1024), (b"}]}", 1)])),
        ANSWER,
        "long",
        slow=True,
    ),
    Case(
        "a gigabyte of white space",
        of(lambda: gzip_of([(OPEN + raw(), 1), (b" " * (1 << 20), 1024), (b"]}", 1)])),
        ANSWER,
        None,
        slow=True,
    ),
    Case(
        "a gigabyte in one header entry",
        of(
            lambda: gzip_of(
                [(b'{"x":"', 1), (LETTERS, 1024), (b'",' + OPEN[1:] + raw() + b"]}", 1)]
            )
        ),
        ANSWER,
        "too large",
        slow=True,
    ),
    Case(
        "a gigabyte of opening brackets",
        of(lambda: gzip_of([(OPEN + raw() + b",", 1), (b"[" * (1 << 20), 1024)])),
        ERROR | ANSWER,
        "unreadable item",
        slow=True,
    ),
    Case(
        "a bomb of zstd",
        of(lambda: zstandard.compress(OPEN + raw() + b"," + bytes(1 << 29), 19)),
        ERROR | ANSWER,
        None,
        slow=True,
    ),
    Case("a URL of no host", lambda _: ["https://"], USAGE | ERROR, None),
    Case("two million brackets", of(OPEN + b"[" * 10**6 + b"]" * 10**6 + b"]}"), ERROR, None),
    Case("a million brackets at the root", of(b"[" * 10**6), ERROR, None),
    Case("a million objects at the root", of(b'{"a":' * 10**6), ERROR, None),
    Case(
        "arguments a million deep",
        of(listed([raw(args='{"a":' * 10**6 + "1" + "}" * 10**6), raw()])),
        ANSWER,
        "deep",
    ),
]
