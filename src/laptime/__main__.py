"""The program's entry: ``laptime`` and ``python -m laptime``.

Nothing is imported before Ctrl-C is looked after: it may come while the libraries load.
"""


def run() -> int:
    """Run the command line and return its exit code, 130 where Ctrl-C ended it."""
    try:
        from laptime.cli import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(run())
