"""What every readable output shows of an explanation: chosen, ordered, grouped; not judged.

Sums, shares and the choice of counted windows come from the ledger; nothing is defined here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Finding, Judgement
from laptime.explanation import Explanation, View
from laptime.kernels.names import UNKNOWN
from laptime.ledger.accounts import CPU_ACCOUNTS, DEVICE_ACCOUNTS, Account
from laptime.ledger.by_lap import P99_NEEDS
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.model.health import Health
from laptime.model.run import Device, Timeline
from laptime.report.numbers import NOT_MEASURED, count, duration, many, visible
from laptime.report.selection import belongs, view_of

_TITLES = {a.id: a.title for a in (*CPU_ACCOUNTS, *DEVICE_ACCOUNTS)}


@dataclass(frozen=True)
class AccountLine:
    """One line of the ledger tree: mean per counted window. ``holds``: titles merged into it."""

    id: str
    title: str
    meaning: str
    depth: int
    ns: float
    share: float | None
    group: bool
    holds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spread:
    """Lengths of laps, ns. ``p99`` is None below ``P99_NEEDS`` laps."""

    laps: int
    mean: float
    p50: float
    p99: float | None
    worst: float


@dataclass(frozen=True)
class KernelLine:
    """One kernel name: ``share`` of the summed kernel durations of the recording."""

    name: str
    library: str
    operation: str
    dtype: str | None
    count: int
    ns: int
    share: float | None

    @property
    def mean_ns(self) -> float | None:
        """Mean duration of a call; None where no call has one."""
        return self.ns / self.count if self.count else None

    @property
    def known(self) -> bool:
        """Whether the name gave a library or an operation."""
        return self.library != UNKNOWN or self.operation != UNKNOWN

    @property
    def what(self) -> str:
        """Library, operation and data type in one phrase."""
        if not self.known:
            return UNKNOWN
        words = [w for w in (self.library, self.operation) if w != UNKNOWN]
        return visible(" ".join([*words, self.dtype] if self.dtype else words))


class Ranked(Protocol):
    """Anything that may be labelled with a rank."""

    @property
    def rank(self) -> int | None:
        """The rank; None where it is not known."""
        ...


@dataclass(frozen=True)
class RankLine:
    """One device of one rank, for the table over ranks."""

    rank: str
    device: str
    model: str
    lap_ns: float | None
    busy: float | None
    top: str


def account_lines(ledger: Ledger, device: DeviceLedger) -> list[AccountLine]:
    """The tree of one device, parents before children, accounts without time left out.

    ``unattributed`` is always there. A group that also holds time of its own beside that of its
    children gets a line for it, so that children sum to their parent.
    """
    lines: list[AccountLine] = []
    leaves = {a.id: j for j, a in enumerate(device.leaves)}
    counted = ledger.counted(device)
    whole = ledger.mean_window_ns(device)

    def line(account: Account, depth: int, ns: float, group: bool, title: str) -> AccountLine:
        holds = () if group else tuple(account_title(i) for i in device.merged.get(account.id, ()))
        part = ns / whole if whole else None
        return AccountLine(account.id, title, account.meaning, depth, ns, part, group, holds)

    def walk(parent: str | None, depth: int) -> None:
        for account in device.tree:
            if account.parent != parent:
                continue
            ns = ledger.mean_ns(device, account.id)
            if ns == 0 and not never_hidden(device, account.id):
                continue
            mine = account.id in leaves
            before = len(lines)
            lines.append(line(account, depth, ns, False, account.title))
            walk(account.id, depth + 1)
            if len(lines) == before + 1:
                continue
            lines[before] = line(account, depth, ns, True, account.title)
            own = float(device.ns[counted, leaves[account.id]].mean()) if mine else 0.0
            if own:
                lines.append(line(account, depth + 1, own, False, f"{account.title}, not split"))

    walk(None, 0)
    return lines


def account_title(id_: str) -> str:
    """The title of an account of any tree."""
    return _TITLES.get(id_, id_)


def never_hidden(device: DeviceLedger, account: str) -> bool:
    """Whether an account is ``unattributed``, which is shown without time too, or above it."""
    if account == "unattributed":
        return any(a.id == account for a in device.tree)
    parents = {a.id: a.parent for a in device.tree}
    at = parents.get("unattributed")
    while at is not None:
        if at == account:
            return True
        at = parents.get(at)
    return False


def window_spread(view: View, device: DeviceLedger) -> Spread | None:
    """Lengths of the counted device windows: the ledger's own spread where it has one."""
    told = view.spreads.get(device.device)
    if told is not None:
        return Spread(told.laps, told.mean_ns, told.p50_ns, told.p99_ns, told.worst_ns)
    ledger = view.ledger
    lengths = np.array([w.dur_ns for w in device.windows], dtype=np.int64)
    return _spread(lengths[ledger.counted(device)] if len(lengths) else lengths)


def host_spread(ledger: Ledger) -> Spread | None:
    """Lengths of the steady host windows."""
    return _spread(np.array([lap.dur_ns for lap in ledger.laps.steady], dtype=np.int64))


def one_window(view: View) -> bool:
    """Whether each window is that of the host: the ledger is the owning thread's, whose laps are
    the host's own."""
    host = host_spread(view.ledger)
    return bool(view.ledger.devices) and all(
        d.cpu and window_spread(view, d) == host for d in view.ledger.devices
    )


def _spread(lengths: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Spread | None:
    if len(lengths) == 0:
        return None
    # Laps that were really seen, at the ranks that the ledger's own spread uses.
    ordered = np.sort(lengths)
    laps = len(ordered)
    p99 = float(ordered[-(-laps * 99 // 100) - 1]) if laps >= P99_NEEDS else None
    middle = float(ordered[(laps - 1) // 2])
    return Spread(laps, float(ordered.mean()), middle, p99, float(ordered[-1]))


def lag_ns(ledger: Ledger, device: DeviceLedger) -> tuple[int, int] | None:
    """Least and most that a counted device window starts after its host window."""
    starts = {lap.id: lap.start_ns for lap in ledger.laps.laps}
    lags = [
        w.start_ns - starts[w.lap]
        for w, used in zip(device.windows, ledger.counted(device), strict=True)
        if used and w.lap in starts
    ]
    return (min(lags), max(lags)) if lags else None


def lap_source(view: View) -> str:
    """One phrase on the laps: how many, where from, how many counted."""
    laps = view.ledger.laps
    many_laps = many(len(laps.laps), "lap")
    if laps.source == "mark":
        # A mark that numbers its laps is one mark, not the one lap that it was read from.
        counted_by = _probe_laps(view)
        if counted_by is not None:
            return (
                f"{many_laps} counted by laptime run: {counted_by}; {count(_steady(view))} steady"
            )
        mark = f" {re.sub(r'#[0-9]+$', '#N', visible(laps.mark))}" if laps.mark else ""
        found = f"{many_laps} from the program's own marks{mark}"
    elif laps.source == "repetition":
        found = (
            f"{many_laps} inferred from repetition of the launch sequence "
            f"(confidence {laps.confidence:.2f})"
        )
    else:
        found = "no lap could be told: the whole recording is taken as one"
    return found if laps.source == "window" else f"{found}; {count(_steady(view))} steady"


def _steady(view: View) -> int:
    return len(view.ledger.laps.steady)


def _probe_laps(view: View) -> str | None:
    """What the probe took for laps, where its laps are the view's; None where they are not."""
    captured, mark = view.timeline.capture, view.ledger.laps.mark
    if captured is None or mark is None or not mark.startswith("laptime.lap#"):
        return None
    return visible(captured.process.lap_source or "by what is not told")


def dropped(view: View, labels: int = 3) -> list[str]:
    """Laps that statistics leave out, grouped by reason: ``warm-up: ProfilerStep#0``."""
    reasons: dict[str, list[str]] = {}
    for lap in view.ledger.laps.laps:
        if not lap.steady:
            reasons.setdefault(lap.why_not or "no reason given", []).append(visible(lap.label))
    lines = []
    for why, names in reasons.items():
        more = f" and {len(names) - labels} more" if len(names) > labels else ""
        lines.append(f"{visible(why)}: {', '.join(names[:labels])}{more}")
    return lines


def counted_phrase(ledger: Ledger, device: DeviceLedger) -> str:
    """Which windows the means of this device are over."""
    if ledger.laps.source == "window":
        return "whole recording"
    used = int(ledger.counted(device).sum())
    steady = {lap.id for lap in ledger.laps.steady}
    chosen = [w for w, u in zip(device.windows, ledger.counted(device), strict=True) if u]
    if not chosen:
        return "no window"
    what = "steady window" if all(w.lap in steady for w in chosen) else "window"
    is_open = any(w.open for w in chosen)
    if used == 1:
        return f"{many(used, what)}{', open: it ends with its own work' if is_open else ''}"
    return f"mean of {many(used, what)}{', the open last one among them' if is_open else ''}"


def kernel_lines(view: View, top: int | None = None) -> list[KernelLine]:
    """Kernel names by summed duration, longest first."""
    total = sum(k.ns for k in view.kernels)
    ordered = sorted(view.kernels, key=lambda k: (-k.ns, k.decoded.name))
    return [
        KernelLine(
            k.decoded.name,
            k.decoded.library,
            k.decoded.operation,
            k.decoded.dtype,
            k.count,
            k.ns,
            k.ns / total if total else None,
        )
        for k in ordered[:top]
    ]


def unknown_kernels(view: View) -> list[KernelLine]:
    """The names that no rule of the decoder reads, longest first."""
    return [k for k in kernel_lines(view) if not k.known]


def device_of(explanation: Explanation, id_: str) -> Device | None:
    """The run's device with this id; None for the thread of a CPU-only run."""
    return next((d for d in explanation.run.devices if d.id == id_), None)


def device_title(explanation: Explanation, device: DeviceLedger) -> str:
    """Id and, where recorded, the model name."""
    model = _model(explanation, device)
    known = device_of(explanation, device.device)
    title = device.device
    if known is not None and known.pid is not None:
        title = f"{title.replace(f'/pid{known.pid}', '', 1)}, process {known.pid}"
    return f"{visible(title)}{f' ({model})' if model else ''}"


def _model(explanation: Explanation, device: DeviceLedger) -> str:
    if device.cpu:
        return "the thread that owns the laps"
    known = device_of(explanation, device.device)
    return visible(known.name) if known and known.name else ""


def timeline_title(timeline: Timeline) -> str:
    """Rank where known, else the process, with the file it was read from."""
    who = f"rank {timeline.rank}" if timeline.rank is not None else f"process {timeline.pid}"
    if timeline.rank is None and timeline.pid is None:
        who = timeline.id
    return f"{visible(who)}: {visible(timeline.source)}"


def rank_lines(explanation: Explanation) -> list[RankLine]:
    """One line for each device of each timeline, in order."""
    lines = []
    names = _without_common_folder([v.timeline.id for v in explanation.views])
    for view, name in zip(explanation.views, names, strict=True):
        top = next((f for f in explanation.judgement.findings if belongs(f, view)), None)
        for device in view.ledger.devices:
            spread = window_spread(view, device)
            busy = "operators" if device.cpu else "busy"
            held = any(a.id == busy for a in device.tree)
            rank = view.timeline.rank
            lines.append(
                RankLine(
                    str(rank) if rank is not None else visible(name),
                    visible(device.device),
                    _model(explanation, device),
                    spread.mean if spread else None,
                    view.ledger.share(device, busy) if held else None,
                    visible(top.title) if top else "none",
                )
            )
    return lines


def _without_common_folder(ids: Sequence[str]) -> list[str]:
    """Ids without the folders that all share: those tell none of them apart."""
    parts = [id_.split("/") for id_ in ids]
    shared, most = 0, min((len(p) for p in parts), default=1) - 1
    while shared < most and len({p[shared] for p in parts}) == 1:
        shared += 1
    return ["/".join(p[shared:]) for p in parts]


def loss_lines(health: Health) -> list[str]:
    """Each loss with its reason, count and first place in the text."""
    lines = []
    for loss in health.losses:
        where = f", first at byte {loss.offset:,}" if loss.offset is not None else ""
        lines.append(f"{visible(loss.source)}: {visible(loss.reason)} ({count(loss.count)}{where})")
    return lines


def none_found(said: Judgement) -> str:
    """What to say where there is no finding: how many causes were judged, how many could not."""
    judged = len({c.id for c in said.clear})
    unjudged = len({a.id for a in said.abstentions})
    if not judged:
        return f"none: {'no cause was looked for' if not unjudged else 'no cause could be judged'}"
    rest = f"; {count(unjudged)} could not be judged" if unjudged else ""
    return f"none: {many(judged, 'cause')} looked for and not there{rest}"


def of_one_window(explanation: Explanation, finding: Finding) -> bool:
    """Whether a finding's device has one window counted."""
    view = view_of(explanation, finding)
    mine = [d for d in view.ledger.devices if d.device == finding.device] if view else []
    return view is not None and [int(view.ledger.counted(d).sum()) for d in mine] == [1]


def bound(explanation: Explanation, finding: Finding) -> str:
    """What a finding can cost, named as what it is; of one window counted it is no mean."""
    if finding.bound_ns is None:
        return f"{NOT_MEASURED}: no bound can be stated"
    each = "" if of_one_window(explanation, finding) else " a lap"
    return f"at most {duration(finding.bound_ns)}{each} (a bound, not a gain)"


def device_meant(explanation: Explanation, finding: Finding) -> str:
    """The device that a finding is about, where its timeline has several; else ""."""
    for view in explanation.views:
        devices = [d.device for d in view.ledger.devices]
        if finding.device in devices and len(devices) > 1:
            return visible(finding.device or "")
    return ""


def finding_head(finding: Finding, several: bool = False, device: str = "") -> str:
    """Title, id and, in a run of several timelines, whose it is: the rank, else the device.

    ``device``: the device, where its timeline has several (``device_meant``)."""
    whose = f"rank {finding.rank}" if finding.rank is not None else visible(finding.device or "")
    named = [whose] if several and whose else []
    rank = "".join(f", {w}" for w in dict.fromkeys([*named, *([device] if device else [])]))
    # Rounded as in its sentence, which stands below it.
    size = (
        f", {wording.percent(finding.share).replace(' %', '%')} of the lap"
        if finding.share is not None
        else ""
    )
    return f"{visible(finding.title)} ({finding.id}{rank}){size}"
