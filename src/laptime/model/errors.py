"""Typed errors: one line, naming the file and the mend. Exit codes are the command line's."""

from __future__ import annotations


class LaptimeError(Exception):
    """Base of every error that laptime raises on purpose. ``str()`` is one line."""

    exit_code = 1


class UsageError(LaptimeError):
    """The request itself cannot be met (unknown option value, path that does not exist)."""

    exit_code = 2


class CannotTell(LaptimeError):
    """The evidence was read but does not hold what the question needs."""

    exit_code = 3


class UnreadableInput(LaptimeError):
    """The evidence cannot be read: wrong format, empty, not permitted, damaged beyond use."""

    exit_code = 5
