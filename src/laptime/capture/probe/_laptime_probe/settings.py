"""What the launcher asks for, as one environment variable."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "LAPTIME_PROBE"
"""``key=value`` pairs, one a line, so that no parser need be imported."""


class Settings:
    """How to record. Counts are laps."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.dir = given["dir"]
        self.warmup = int(given.get("warmup", "5"))
        self.plain = int(given.get("plain", "10"))
        self.laps = int(given.get("laps", "5"))
        self.laps_from = given.get("laps_from", "auto")
        self.stacks = given.get("stacks") == "1"
        self.shapes = given.get("shapes") == "1"
        self.memory = given.get("memory") == "1"


def read(environ: Mapping[str, str]) -> Settings | None:
    """The settings of this process; None where the launcher asked for nothing."""
    text = environ.get(VARIABLE)
    if not text:
        return None
    return Settings(dict(line.split("=", 1) for line in text.split("\n") if "=" in line))
