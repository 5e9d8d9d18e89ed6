"""Laps: where they begin and end on the host and on each device, and which are steady."""

from laptime.ledger.laps.find import find_laps

__all__ = ["find_laps"]
