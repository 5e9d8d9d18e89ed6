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
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

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
    args = _parser(commands).parse_args(argv)
    code: int = commands[args.command].run(args)
    return code


def _commands() -> dict[str, ModuleType]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    return {name: import_module(f"{__name__}.{name}") for name in names}


def _parser(commands: dict[str, ModuleType]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="laptime",
        description="Where every nanosecond of a training step or engine iteration went, and why.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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
    from laptime.report.numbers import visible

    # Paths and names in it are written by others: they must not act on the terminal.
    print(f"laptime: {visible(' '.join(line.split()))}", file=sys.stderr)
