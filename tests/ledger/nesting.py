"""What is innermost in nested rows of a thread, in plain Python: the oracle of ``nest``."""

from __future__ import annotations

Nested = tuple[list[int], tuple[list[int], list[int]], list[int], bool]


def nested(rows: list[tuple[int, int]]) -> Nested:
    """``around``, ``span``, ``at`` and ``crossing`` of stretches in order of (start, -length).

    Where stretches cross, one is cut where the one around it ends.
    """
    starts: list[int] = []
    ends: list[int] = []
    whose: list[int] = []
    around: list[int] = []
    stack: list[tuple[int, int]] = []
    at = 0
    crossing = False

    def emit(until: int) -> None:
        if stack and until > at:
            starts.append(at)
            ends.append(until)
            whose.append(stack[-1][1])

    for place, (low, high) in enumerate(rows):
        while stack and stack[-1][0] <= low:
            until = stack[-1][0]
            emit(until)
            at = max(at, until)
            stack.pop()
        emit(low)
        at = max(at, low) if stack else low
        around.append(stack[-1][1] if stack else -1)
        crossing = crossing or bool(stack and high > stack[-1][0])
        stack.append((min(high, stack[-1][0]) if stack else high, place))
    while stack:
        until = stack[-1][0]
        emit(until)
        at = max(at, until)
        stack.pop()
    return around, (starts, ends), whose, crossing
