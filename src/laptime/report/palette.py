"""Colours of accounts: one for each, the same in every output; families share a hue."""

from __future__ import annotations

from typing import NamedTuple


class Colour(NamedTuple):
    """``fill`` for pages (readable on light and dark), ``ansi`` a terminal style."""

    fill: str
    ansi: str


_GREY = Colour("#8b929a", "bright_black")

_COLOURS: dict[str, Colour] = {
    "busy": Colour("#2f8f5b", "green"),
    "compute": Colour("#2f8f5b", "green"),
    "operators": Colour("#2f8f5b", "green"),
    "compute_with_comm": Colour("#3aa6a0", "cyan"),
    "exposed_comm": Colour("#e08a1e", "yellow"),
    "exposed_comm_transfer": Colour("#f0b04a", "yellow"),
    "exposed_comm_wait": Colour("#b8680a", "yellow"),
    "exposed_copy": Colour("#a89200", "yellow"),
    "idle": Colour("#b04a4a", "red"),
    "profiler": Colour("#707984", "bright_black"),
    "held": Colour("#8062b5", "magenta"),
    "launch_latency": Colour("#b79ce0", "magenta"),
    "kernel_gap": Colour("#9573cc", "magenta"),
    "event_wait": Colour("#6b4aa3", "magenta"),
    "host": Colour("#d1495b", "red"),
    "input_wait": Colour("#d1304b", "red"),
    "host_sync": Colour("#f0694a", "red"),
    "allocator": Colour("#f08bb0", "red"),
    "gc": Colour("#b0279b", "red"),
    "compile": Colour("#80348f", "red"),
    "side_work": Colour("#8d6e63", "red"),
    "host_launch": Colour("#2f6fb3", "blue"),
    "host_ops": Colour("#5b9bd8", "blue"),
    "python": Colour("#5b9bd8", "blue"),
    "off_cpu": Colour("#4a5f6b", "red"),
    "host_between_ops": Colour("#9cc0e4", "blue"),
    "between_ops": Colour("#9cc0e4", "blue"),
    "unattributed": Colour("#c2c6cb", "bright_magenta"),
}


def colour(account: str) -> Colour:
    """The account's colour; grey for an account that is not known here."""
    return _COLOURS.get(account, _GREY)
