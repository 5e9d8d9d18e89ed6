"""Where the stored bytes of evidence are and how they are reached: a local file, a URL, a stream.

A local file and a URL can be read again; a stream (stdin, a pipe) only once. ``fsspec`` is
imported only when a URL is opened.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from laptime.model.errors import UnreadableInput, UsageError

EDGE_BYTES = 1 << 20
"""How much of each end of a file its identity's hash covers."""


@dataclass(frozen=True)
class Identity:
    """What tells whether a file is still the one that was read.

    ``stamp`` is the modification time in ns of a local file, or what the remote store gives
    (time or entity tag). ``edges`` is blake2b of the first and last ``EDGE_BYTES``.
    """

    size: int
    stamp: str
    edges: str

    def same_as(self, other: Identity) -> bool:
        """Whether both describe the same content, as far as can be told.

        A file small enough to be hashed whole may have been touched or copied; of a larger one
        the middle is not seen, so that a new time stamp counts as a change.
        """
        if self.size != other.size or self.edges != other.edges:
            return False
        return self.stamp == other.stamp or self.size <= 2 * EDGE_BYTES


class Reader:
    """Stored bytes in order. A failing read ends the bytes and is kept in ``failure``."""

    def __init__(self, file: BinaryIO, head: bytes = b"", close: bool = True) -> None:
        self._file = file
        self._head = head
        self._close = close
        self.count = 0
        self.failure: str | None = None

    def read(self, n: int) -> bytes:
        """At most ``n`` bytes; empty only at the end."""
        if self._head:
            got, self._head = self._head[:n], self._head[n:]
        else:
            try:
                got = self._file.read(n) or b""
            # A remote store raises errors of its own library: what was read so far must survive.
            except Exception as error:
                self.failure = f"reading failed: {_one_line(error)}"
                got = b""
        self.count += len(got)
        return got

    def close(self) -> None:
        """Close the file, unless it belongs to the caller."""
        if self._close:
            self._file.close()


class Stored(Protocol):
    """A place that holds evidence."""

    name: str
    size: int | None
    rereadable: bool
    local: bool

    def open(self, at: int = 0) -> Reader:
        """Bytes from offset ``at`` on."""
        ...

    def identity(self) -> Identity | None:
        """What the file is now; None for a stream."""
        ...


class LocalFile:
    """A file of this machine."""

    rereadable = True
    local = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        try:
            found = os.stat(self.name)
        except OSError as error:
            raise _open_error(self.name, error) from None
        except ValueError:
            raise UsageError(f"{self.name!r}: not a path; name a file") from None
        if stat.S_ISDIR(found.st_mode):
            raise UsageError(f"{self.name}: a folder, not a file; name a file in it")
        if not stat.S_ISREG(found.st_mode):
            raise UsageError(f"{self.name}: not a regular file; pipe it in and give '-'")
        self.size: int | None = found.st_size

    def open(self, at: int = 0) -> Reader:
        """Bytes from offset ``at`` on, unbuffered."""
        try:
            file = open(self.name, "rb", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise _open_error(self.name, error) from None
        if at:
            file.seek(at)
        return Reader(file)

    def identity(self) -> Identity:
        """Size, modification time and hash of both ends, now."""
        try:
            with open(self.name, "rb", buffering=0) as file:
                found = os.fstat(file.fileno())
                edges = _edges(file, found.st_size)
        except OSError as error:
            raise _open_error(self.name, error) from None
        return Identity(found.st_size, str(found.st_mtime_ns), edges)


class RemoteFile:
    """A file behind an fsspec URL (``s3://``, ``https://``, ``zip://name::archive``, ...)."""

    rereadable = True
    local = False

    def __init__(self, url: str) -> None:
        import fsspec

        self.name = url
        try:
            self._fs, self._path = fsspec.core.url_to_fs(url)
            info: dict[str, Any] = self._fs.info(self._path)
        except ImportError as error:
            raise UsageError(
                f"{url}: {_one_line(error)}; install what is missing, or download the file"
            ) from None
        except FileNotFoundError:
            raise UsageError(f"{url}: no such file; check the address") from None
        except PermissionError:
            raise UnreadableInput(f"{url}: not permitted; check the credentials") from None
        except Exception as error:
            why = _one_line(error)
            raise UnreadableInput(
                f"{url}: cannot be opened: {why}; check the address, or download the file"
            ) from None
        if info.get("type") == "directory":
            raise UsageError(f"{url}: a folder, not a file; name a file in it")
        size = info.get("size")
        self.size: int | None = size if isinstance(size, int) else None

    def open(self, at: int = 0) -> Reader:
        """Bytes from offset ``at`` on, through fsspec's own read-ahead."""
        try:
            file: BinaryIO = self._fs.open(self._path, "rb")
            if at:
                file.seek(at)
        except Exception as error:
            raise UnreadableInput(f"{self.name}: cannot be opened: {_one_line(error)}") from None
        return Reader(file)

    def identity(self) -> Identity:
        """Size, the store's own stamp and hash of both ends, now."""
        try:
            self._fs.invalidate_cache()
            info: dict[str, Any] = self._fs.info(self._path)
            size = int(info.get("size") or 0)
            with self._fs.open(self._path, "rb") as file:
                edges = _edges(file, size)
        except Exception as error:
            raise UnreadableInput(f"{self.name}: cannot be read: {_one_line(error)}") from None
        stamps = ("ETag", "etag", "LastModified", "mtime", "created", "updated", "CRC")
        stamp = next((str(info[key]) for key in stamps if info.get(key) is not None), "")
        return Identity(size, stamp, edges)


class Stream:
    """Bytes that come once: stdin, or any binary file object. It stays the caller's to close."""

    rereadable = False
    local = False
    size: int | None = None

    def __init__(self, file: BinaryIO, name: str = "stdin") -> None:
        self.name = name
        self._file = file
        self._head = b""
        self._taken = False

    def peek(self, n: int) -> bytes:
        """The first ``n`` bytes, kept for the reader."""
        while len(self._head) < n:
            try:
                got = self._file.read(n - len(self._head))
            except OSError as error:
                raise UnreadableInput(
                    f"{self.name}: cannot be read: {_one_line(error)}; save it to a file first"
                ) from None
            if not got:
                break
            self._head += got
        return self._head[:n]

    def open(self, at: int = 0) -> Reader:
        """All bytes, once."""
        if self._taken or at:
            raise UnreadableInput(f"{self.name}: can be read only once; save it to a file first")
        self._taken = True
        return Reader(self._file, self._head, close=False)

    def identity(self) -> None:
        """Nothing: a stream cannot be looked at again."""
        return


def is_url(text: str) -> bool:
    """Whether a text names something for fsspec rather than a local path."""
    return "://" in text or "::" in text


def head_of(stored: Stored, n: int) -> bytes:
    """The first ``n`` stored bytes, without using up a stream."""
    if isinstance(stored, Stream):
        return stored.peek(n)
    reader = stored.open()
    try:
        head = b""
        while len(head) < n and (got := reader.read(n - len(head))):
            head += got
    finally:
        reader.close()
    if reader.failure and not head:
        raise UnreadableInput(f"{stored.name}: {reader.failure}; check the disk, or copy it again")
    return head


def _edges(file: BinaryIO, size: int) -> str:
    digest = hashlib.blake2b(digest_size=16)
    digest.update(_exactly(file, min(size, EDGE_BYTES)))
    if size > EDGE_BYTES:
        file.seek(max(EDGE_BYTES, size - EDGE_BYTES))
        digest.update(_exactly(file, min(size - EDGE_BYTES, EDGE_BYTES)))
    return digest.hexdigest()


def _exactly(file: BinaryIO, n: int) -> bytes:
    parts = []
    while n > 0 and (got := file.read(n)):
        parts.append(got)
        n -= len(got)
    return b"".join(parts)


def _open_error(name: str, error: OSError) -> UsageError | UnreadableInput:
    if isinstance(error, FileNotFoundError):
        folder = Path(name).parent
        hint = "check the path" if folder.is_dir() else f"the folder {folder} does not exist either"
        return UsageError(f"{name}: no such file; {hint}")
    if isinstance(error, PermissionError):
        return UnreadableInput(f"{name}: permission denied; make it readable (chmod +r)")
    why = error.strerror or _one_line(error)
    return UnreadableInput(f"{name}: cannot be opened: {why}; check the path")


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text[:200] if text else type(error).__name__
