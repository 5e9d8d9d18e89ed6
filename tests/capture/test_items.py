"""How many items a lap had: which loader's batches count, and what a batch says of itself."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from laptime.capture.launch import PROBE

TRAIN, OTHER, VALIDATION = 1, 2, 3


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(PROBE))
    return lambda name: importlib.import_module(f"_laptime_probe.{name}")


def counted(probe: Any, laps: Sequence[Sequence[tuple[int, int | None]]]) -> list[int | None]:
    """Samples of each lap, given its batches as (loader, samples)."""
    items = probe("items").Items()
    found = []
    for number, batches in enumerate(laps):
        for loader, samples in batches:
            items.came(loader, samples, None)
        found.append(items.close(number)[0])
    return found


def test_batches_of_one_lap_are_summed(probe: Any) -> None:
    assert counted(probe, [[(TRAIN, 8)], [(TRAIN, 8), (TRAIN, 4)]]) == [8, 12]


def test_validation_between_steps_counts_for_nothing(probe: Any) -> None:
    train, checked = [(TRAIN, 16)], [(VALIDATION, 32), (VALIDATION, 32), (TRAIN, 16)]
    laps = [checked, *[train] * 9, checked, *[train] * 9, checked]
    assert counted(probe, laps) == [16] * len(laps)


def test_two_loaders_read_side_by_side_both_count(probe: Any) -> None:
    assert counted(probe, [[(TRAIN, 16), (OTHER, 4)]] * 4)[1:] == [20, 20, 20]


def test_a_batch_fetched_ahead_leaves_two_laps_unknown(probe: Any) -> None:
    one = (TRAIN, 8)
    assert counted(probe, [[one], [], [one, one], [one]]) == [8, None, None, 8]


def test_an_unknown_batch_makes_its_lap_unknown(probe: Any) -> None:
    assert counted(probe, [[(TRAIN, 8), (TRAIN, None)], [(TRAIN, 8)]]) == [None, 8]


def tensor(*shape: int) -> Any:
    return SimpleNamespace(shape=shape)


class Sampler:
    def __init__(self, batch_size: Any) -> None:
        self.batch_size = batch_size


class Graphs:
    """Like a batch of PyTorch Geometric: it has keys and no values, and rows that are nodes."""

    num_graphs = 7

    def keys(self) -> list[str]:
        return ["x"]


class Hostile:
    def keys(self) -> list[str]:
        return []


@pytest.mark.parametrize(
    ("batch", "samples", "tokens"),
    [
        (tensor(8, 3), 8, None),
        ((tensor(8, 3), tensor(8)), 8, None),
        ({"label": 3, "image": tensor(4, 9)}, 4, None),
        ({"input_ids": tensor(4, 512), "labels": tensor(4)}, 4, 2048),
        ({"input_ids": tensor(512), "labels": tensor(512)}, None, None),
        ((tensor(), (tensor(6, 1), "name")), 6, None),
        (SimpleNamespace(shape=(90, 2), batch_sizes=[5, 3]), 5, None),
        (Graphs(), 7, None),
        (["a", "b"], None, None),
        (Hostile(), None, None),
        (None, None, None),
    ],
)
def test_size(probe: Any, batch: Any, samples: int | None, tokens: int | None) -> None:
    assert probe("loaders").size(batch) == (samples, tokens)


def sizes(probe: Any, asked: Any, rows: list[int], made: bool = True) -> list[int | None]:
    iterator = SimpleNamespace(_auto_collation=made, _index_sampler=Sampler(asked))
    feed = probe("loaders").Feed(iterator, tensor(rows[0], 2))
    return [feed.counts(feed.read(tensor(n, 2)))[0] for n in rows]


def test_rows_are_samples_where_the_loader_makes_as_many(probe: Any) -> None:
    assert sizes(probe, 16, [16, 16, 5]) == [16, 16, 5]
    assert sizes(probe, None, [16, 5]) == [16, 5]  # a batch sampler of the user's


def test_rows_that_are_no_samples_are_not_counted(probe: Any) -> None:
    assert sizes(probe, 16, [35, 35]) == [None, None]  # packed
    assert sizes(probe, 64, [35, 35]) == [None, None]  # time first
    assert sizes(probe, None, [3, 3], made=False) == [None, None]  # whatever the data set yields
