"""The process's own streams: some may be closed, and not every one can show every character."""

from __future__ import annotations

import codecs
import os
import sys

from laptime.model.errors import UsageError

_PLAIN = {"…": "~"} | dict.fromkeys("▏▎▍▌▋▊▉█", "#")
"""What stands for the report's own characters where the encoding lacks them: as wide as they are,
so that columns stay; a part of a cell becomes a whole one, so that no bar disappears."""


def prepare() -> None:
    """Make the streams usable. Raises ``UsageError`` where stdout is closed: nobody would read."""
    if sys.stderr is None:
        # print() would send errors to stdout instead.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        raise UsageError("stdout is closed; send it to a file, or to /dev/null")
    codecs.register_error("laptime", _plain)
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks must not end the report.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="laptime")


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """An error handler of ``codecs``: plain characters where there are any, else escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    one = UnicodeEncodeError(
        error.encoding, error.object, error.start, error.start + 1, error.reason
    )
    plain = _PLAIN.get(error.object[error.start])
    return (plain, one.end) if plain is not None else codecs.backslashreplace_errors(one)
