"""The command line: one module for each command.

A command module of this folder has ``SUMMARY``, ``add_arguments(parser)`` and ``run(args) -> int``
(an exit code); its name is the command's, and its docstring the head of its help. Modules import
what is heavy inside ``run``, so that ``--help`` answers at once. Errors become one line on stderr
and an exit code here, and only here.
"""

from __future__ import annotations

import argparse
import errno
import os
import pkgutil
import re
import shlex
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from laptime.cli import _streams
from laptime.model.errors import LaptimeError, UsageError

EXIT_CODES = """\
exit codes:
  0  answered
  1  internal fault: a defect of laptime
  2  usage: the request cannot be met as given
  3  cannot tell: the evidence was read, but holds no lap, device or thread to account for
  4  a gate that was asked for failed
  5  unreadable input: wrong format, empty, not permitted, damaged beyond use
  130  ended by Ctrl-C
"""

_PATH_LIKE = re.compile(r"[./\\\\]|^-$")
"""A first word that holds one of these is a file or a URL that somebody wants explained."""

_INTERRUPTED = 130
"""What shells report for a program ended by Ctrl-C (128 + SIGINT)."""


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""What the system answers where output finds no room."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        _streams.prepare()
        code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has what it wanted (`| head`); keep the interpreter's last flush quiet too.
        _drop_stdout()
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except LaptimeError as error:
        _say(str(error))
        return error.exit_code
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            _drop_stdout()
            _say(f"the answer could not be written: {error.strerror}")
            return UsageError.exit_code
        if os.environ.get("LAPTIME_DEBUG"):
            raise
        _say(
            f"internal fault: {type(error).__name__}: {error}; please report it with the traceback "
            "that LAPTIME_DEBUG=1 shows"
        )
        return 1
    return code


def _run(argv: Sequence[str] | None) -> int:
    commands = _commands()
    parser = _parser(commands)
    given = list(sys.argv[1:] if argv is None else argv)
    if (hint := _meant(given, commands)) is not None:
        parser.error(hint)
    args, unknown = parser.parse_known_args(given)
    if unknown:
        shown = " ".join(_visible(word) for word in unknown)
        commands_parser = _Parser(prog=f"laptime {args.command}", add_help=False)
        commands_parser.error(f"unrecognized arguments: {shown}")
    code: int = commands[args.command].run(args)
    return code


def _meant(given: Sequence[str], commands: Collection[str]) -> str | None:
    """What to write instead where no command is named; None where one is, or help is asked for."""
    if not given or given[0] in commands or {"-h", "--help", "--version"} & set(given):
        return None
    path = next((a for a in given if os.path.exists(a) or _PATH_LIKE.search(a)), None)
    if path is None and given[0].startswith("-"):
        return None
    if path is None:
        return f"{_visible(given[0])!r} is no command; commands: {', '.join(commands)}"
    rest = " ".join(shlex.quote(_visible(a)) for a in given)
    return f"no command is named; to explain a trace: laptime explain {rest}"


def _commands() -> dict[str, ModuleType]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    return {name: import_module(f"{__name__}.{name}") for name in names}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all others are."""

    def error(self, message: str) -> NoReturn:
        _say(f"{message}; see {self.prog} --help")
        raise SystemExit(UsageError.exit_code)


def _parser(commands: dict[str, ModuleType]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="laptime",
        description="Where every nanosecond of a training step or engine iteration went, and why.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    subs = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in commands.items():
        sub = subs.add_parser(
            name,
            help=module.SUMMARY,
            description=module.__doc__,
            epilog=EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(sub)
    return parser


class _Version(argparse.Action):
    """Prints the version on one line, unwrapped."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from laptime import __version__

        print(f"laptime {__version__}")
        parser.exit()


def _drop_stdout() -> None:
    """Let the interpreter's last flush go nowhere: it would fail, and say so, once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(line: str) -> None:
    print(f"laptime: {_visible(' '.join(line.split()))}", file=sys.stderr)


def _visible(text: str) -> str:
    """Paths and names are written by others: they must not act on the terminal."""
    from laptime.report.numbers import visible

    return visible(text)
