"""Refresh what laptime says of each published trace: ``python -m docs.evidence_verdicts``.

The page's own words stand outside the blocks and are not touched. A test explains each trace again
and fails while a block differs from what this would write.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from docs.blocks import DOCS, cell, refreshed, table
from laptime.causes import wording
from laptime.evidence.registry import open_run
from laptime.explaining import explanation_of
from laptime.explanation import Explanation, View
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.model.rows import Kind
from tests.evidence_files import evidence_root

PAGE = DOCS / "evidence.md"
LARGEST = 5
SOURCES = {"mark": "from marks", "repetition": "inferred", "window": "the whole recording"}
GAPS = ("host_between_ops", "between_ops")
GAP = "between ops"


def main() -> None:
    """Write the page's blocks anew."""
    if evidence_root() is None:
        raise SystemExit("no evidence files: set LAPTIME_EVIDENCE to their folder")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(refreshed(text, "laptime", said_of), encoding="utf-8")


@lru_cache(maxsize=64)
def said_of(name: str) -> str:
    """What laptime says of a file or folder of the evidence, as Markdown."""
    root = evidence_root()
    assert root is not None
    path = root / name
    if path.is_dir():
        return _folder(path)
    answer = _explained(path)
    rows = [
        [d.device + _named(v, d.device), *_figures(v, d)]
        for v in answer.views
        for d in v.ledger.devices
    ]
    head = ["device", "laps", "lap", "busy", "largest accounts", "unattributed", GAP, "stacks"]
    return f"> {answer.verdict}\n\n{table(head, rows)}"


def _explained(path: Path) -> Explanation:
    return explanation_of(open_run(str(path), n_jobs=1))


def _folder(folder: Path) -> str:
    """One row for each rank, as each file says of itself, and the verdict on all of them."""
    rows, sentences = [], []
    for path in sorted(folder.glob("*.json.gz")):
        answer = _explained(path)
        (view,) = answer.views
        (device,) = view.ledger.devices
        _laps, lap, busy, largest, unattributed, gap, _stacks = _figures(view, device)
        rows.append([str(view.timeline.rank), lap, busy, largest, unattributed, gap])
        sentences.append(f"- rank {view.timeline.rank}: {answer.verdict}")
    head = ["rank", "lap", "busy", "largest accounts", "unattributed", GAP]
    together = f"> {_explained(folder).verdict}"
    return "\n\n".join(
        (together, table(head, rows), "Each file by itself:\n\n" + _lines(sentences))
    )


def _lines(texts: list[str]) -> str:
    return "\n".join(texts)


def _named(view: View, device: str) -> str:
    name = next((d.name for d in view.timeline.devices if d.id == device), None)
    return f" ({cell(name)})" if name else ""


def _figures(view: View, device: DeviceLedger) -> list[str]:
    ledger = view.ledger
    laps, steady = len(ledger.laps.laps), len(ledger.laps.steady)
    used = int(ledger.counted(device).sum())
    ways = f"{laps} {SOURCES[ledger.laps.source]}, {steady} steady, {used} counted"
    busy = "not a device" if device.cpu else _share(ledger, device, "busy")
    gap = next((_share(ledger, device, g) for g in GAPS if _has(device, g)), "-")
    stacks = "yes" if len(view.timeline.rows.of_kind(Kind.PYTHON)) else "no"
    return [
        ways,
        wording.time(ledger.mean_window_ns(device)),
        busy,
        _largest(ledger, device),
        _share(ledger, device, "unattributed"),
        gap,
        stacks,
    ]


def _has(device: DeviceLedger, account: str) -> bool:
    return any(leaf.id == account for leaf in device.leaves)


def _share(ledger: Ledger, device: DeviceLedger, account: str) -> str:
    share = ledger.share(device, account)
    return "-" if share is None else wording.percent(share)


def _largest(ledger: Ledger, device: DeviceLedger) -> str:
    shares = [(ledger.share(device, leaf.id) or 0.0, leaf.id) for leaf in device.leaves]
    chosen = sorted(shares, key=lambda s: (-s[0], s[1]))[:LARGEST]
    return ", ".join(f"`{i}` {wording.percent(s)}" for s, i in chosen if s > 0.0005)


if __name__ == "__main__":
    main()
