"""The accounts of several ranks side by side: least, median and most of each over the ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from laptime.explanation import Explanation, View
from laptime.ledger.accounts import Account
from laptime.ledger.ledger import DeviceLedger
from laptime.report import shown
from laptime.report.numbers import visible
from laptime.report.ranges import Range, over

Owned = tuple[View, DeviceLedger]


@dataclass(frozen=True)
class AccountRange:
    """One account over the devices that can tell it, ``told`` of them; shares and mean times of
    counted windows. ``most`` names the rank with the largest share, unlabelled its device."""

    id: str
    title: str
    meaning: str
    depth: int
    group: bool
    share: Range
    ns: Range
    most: str
    holds: tuple[str, ...]

    @property
    def told(self) -> int:
        """How many devices can tell the account."""
        return self.share.number


@dataclass(frozen=True)
class AccountTable:
    """The accounts of all accelerators, or of all threads of CPU-only ranks."""

    cpu: bool
    devices: int
    lines: Sequence[AccountRange]
    window: Range


def account_tables(explanation: Explanation) -> list[AccountTable]:
    """A table of the accelerators and one of the threads, where there are such."""
    tables = []
    for cpu in (False, True):
        owned = [
            (v, d)
            for v in explanation.views
            for d in v.ledger.devices
            if d.cpu == cpu and v.ledger.mean_window_ns(d)
        ]
        window = over(v.ledger.mean_window_ns(d) for v, d in owned)
        if window is not None:
            tables.append(AccountTable(cpu, len(owned), _lines(owned), window))
    return tables


def _lines(owned: Sequence[Owned]) -> list[AccountRange]:
    tree: dict[str, Account] = {a.id: a for _, d in owned for a in d.tree}
    lines: list[AccountRange] = []

    def walk(parent: str | None, depth: int) -> None:
        for account in (a for a in tree.values() if a.parent == parent):
            found = _line(owned, account, depth)
            if found is not None:
                lines.append(found)
                walk(account.id, depth + 1)

    walk(None, 0)
    return lines


def _line(owned: Sequence[Owned], account: Account, depth: int) -> AccountRange | None:
    """The line of an account; None where no device has time in it (``unattributed`` stays)."""
    seen = [(v, d) for v, d in owned if _tells(v, d, account.id)]
    shares = [v.ledger.share(d, account.id) or 0.0 for v, d in seen]
    found, ns = over(shares), over(v.ledger.mean_ns(d, account.id) for v, d in seen)
    if found is None or ns is None:
        return None
    kept = any(shown.never_hidden(d, account.id) for _, d in owned)
    if found.most == 0 and not kept:
        return None
    view, device = seen[shares.index(found.most)]
    rank = view.timeline.rank
    holds = dict.fromkeys(i for _, d in seen for i in d.merged.get(account.id, ()))
    group = any(
        a.parent == account.id and v.ledger.mean_ns(d, a.id) for v, d in seen for a in d.tree
    )
    return AccountRange(
        account.id,
        account.title,
        account.meaning,
        depth,
        group,
        found,
        ns,
        str(rank) if rank is not None else visible(device.device),
        () if group else tuple(shown.account_title(i) for i in holds),
    )


def _tells(view: View, device: DeviceLedger, account: str) -> bool:
    """Whether a device's ledger can tell the account: no time in it is then a measured zero.

    It cannot where the account is not among its leaves nor above one, or where another one may
    hold its time.
    """
    if view.ledger.mean_ns(device, account):
        return True
    parents = {a.id: a.parent for a in device.tree}

    def line(id_: str) -> list[str]:
        above = parents.get(id_)
        return [id_, *(line(above) if above is not None else [])]

    if all(account not in line(leaf.id) for leaf in device.leaves):
        return False
    inside = {i for held in device.merged.values() for i in held}
    return inside.isdisjoint(line(account))
