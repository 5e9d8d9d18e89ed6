"""The user's command: which program runs, by which interpreter, and whether the probe can enter.

The probe enters by ``PYTHONPATH`` and ``sitecustomize``. An interpreter told to ignore either
(``-I``, ``-E``, ``-S``, on its command line or in a script's first line) runs without it.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from laptime.model.errors import UsageError

_WITH_VALUE = "cmWXQ"
"""Python's options that take a value: as the rest of the word, or as the next one."""
_SHUT = {
    "I": "-I isolates it from PYTHONPATH",
    "E": "-E has it ignore PYTHONPATH",
    "S": "-S has it skip sitecustomize",
}


@dataclass(frozen=True)
class Command:
    """What to execute. ``shut`` says why the probe cannot enter; None where nothing is known."""

    argv: Sequence[str]
    shut: str | None = None


def resolve(
    words: Sequence[str],
    *,
    module: bool = False,
    python: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Command:
    """The command to execute for the words that the user gave.

    A path that ends in ``.py`` (or is a folder or archive that Python runs), and a module, are run
    by ``python``, else by the script's own interpreter, else by the active environment's; anything
    else is a program of its own. Raises ``UsageError`` where there is nothing to run.
    """
    env = os.environ if environ is None else environ
    if not words:
        raise UsageError("nothing to run; for example: laptime run train.py --epochs 1")
    if module:
        argv = [python or _interpreter(env), "-m", *words]
    elif _is_script(words[0]):
        if not os.path.exists(words[0]):
            raise UsageError(f"{words[0]}: no such file; name a script, or -m MODULE")
        argv = [python] if python else _shebang(words[0]) or [_interpreter(env)]
        argv = [*argv, *words]
    else:
        if python:
            raise UsageError(
                f"--python is for scripts and modules; {words[0]} is a program of its own"
            )
        argv = list(words)
    found = shutil.which(argv[0], path=env.get("PATH"))
    if found is None:
        raise UsageError(
            f"{argv[0]}: no such program; name a script that ends in .py, -m MODULE, or a program "
            "on the PATH"
        )
    return Command([argv[0], *argv[1:]], _shut(argv, found))


def _is_script(word: str) -> bool:
    if word.endswith((".py", ".pyc", ".pyz")):
        return True
    return os.path.isfile(os.path.join(word, "__main__.py"))


def _interpreter(env: Mapping[str, str]) -> str:
    """The active environment's Python, else laptime's own where it has torch, else the PATH's."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        place = env.get(name)
        if place and os.access(os.path.join(place, "bin", "python"), os.X_OK):
            return os.path.join(place, "bin", "python")
    if find_spec("torch") is not None:
        return sys.executable
    for name in ("python", "python3"):
        if shutil.which(name, path=env.get("PATH")):
            return name
    return sys.executable


def _shebang(path: str) -> list[str] | None:
    """The interpreter that a script's first line names, if the script may be executed itself."""
    if not os.access(path, os.X_OK):
        return None
    words = _first_line(path)
    return words if words and _is_python(words[0]) else None


def _first_line(path: str) -> list[str]:
    """The words after ``#!`` of a file, without ``env``; none where it has no such line."""
    try:
        with open(path, "rb") as file:
            head = file.read(256)
    except OSError:
        return []
    if not head.startswith(b"#!"):
        return []
    words = head[2:].split(b"\n", 1)[0].decode("utf-8", "replace").split()
    if words and Path(words[0]).name == "env":
        words = [w for w in words[1:] if w != "-S"]
    return words


def _is_python(word: str) -> bool:
    name = Path(word).name
    return name.startswith(("python", "pypy")) and not name.endswith(".py")


def _shut(argv: Sequence[str], found: str) -> str | None:
    """Why the probe cannot enter the command's interpreter, as far as the command shows it."""
    if _is_python(argv[0]):
        return _closed_by(argv[1:], argv[0])
    words = _first_line(found)
    if words and _is_python(words[0]):
        return _closed_by(words[1:], f"the first line of {argv[0]}: {words[0]}")
    return None


def _closed_by(options: Sequence[str], who: str) -> str | None:
    skip = False
    for word in options:
        if skip:
            skip = False
            continue
        if not word.startswith("-") or word in ("-", "--"):
            return None
        if word.startswith("--"):
            continue
        for i, letter in enumerate(word[1:], 1):
            if letter in _SHUT:
                return f"{who}: {_SHUT[letter]}"
            if letter in _WITH_VALUE:
                skip = i == len(word) - 1 and letter not in "cm"
                if letter in "cm":
                    return None
                break
    return None
