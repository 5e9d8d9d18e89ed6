"""Loaders: laps by batches, the size of batches, settings, and the worker processes."""

import functools
import weakref
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import modules
from .items import Counts

if TYPE_CHECKING:
    from .probe import Probe


def wrap(probe: "Probe", module: Any) -> None:
    """Wrap the iterators and the loader of ``torch.utils.data.dataloader``."""
    iterator, loader = module._BaseDataLoaderIter, module.DataLoader
    following, make = iterator.__next__, loader._get_iterator

    @functools.wraps(following)
    def following_batch(self: Any) -> Any:
        try:
            batch = following(self)
        except StopIteration:
            probe.guard(_ended, probe)
            raise
        laps = probe.laps
        feed = vars(self).get("laptime_feed") if laps.quick > 0 else None
        if feed is not None and laps.source != "loader":
            # As ``_came`` would, in a few instructions.
            laps.noted.append((feed, feed.read(batch)))
        else:
            probe.guard(_came, probe, self, batch)
        return batch

    @functools.wraps(make)
    def _get_iterator(self: Any) -> Any:
        found = make(self)
        probe.guard(_made, probe, self, found)
        return found

    probe.wrap(iterator, "__next__", following_batch)
    if "next" in vars(iterator):
        probe.wrap(iterator, "next", following_batch)
    loader._get_iterator = _get_iterator


def wrap_worker(probe: "Probe", module: Any) -> None:
    """A process that runs the worker loop is a worker, however it was started."""
    loop = module._worker_loop

    @functools.wraps(loop)
    def _worker_loop(*args: Any, **kwargs: Any) -> Any:
        probe.guard(probe.is_worker)
        return loop(*args, **kwargs)

    module._worker_loop = _worker_loop


def _ended(probe: "Probe") -> None:
    """The last batch of an epoch has been used; what follows belongs to no lap."""
    if probe.laps.source == "loader":
        probe.laps.boundary("loader", opens=False)


def _came(probe: "Probe", iterator: Any, batch: Any) -> None:
    """A lap runs from batch to batch: from one's arrival to the next one's."""
    laps = probe.laps
    if laps.stage == "done":
        return
    if laps.source in (None, "loader"):
        laps.boundary("loader")
    feed = getattr(iterator, "laptime_feed", None)
    if feed is None:
        feed = iterator.laptime_feed = Feed(iterator, batch)
    if laps.quick > 0 or laps.noted:
        laps.noted.append((feed, feed.read(batch)))
    else:
        laps.items.came(feed.key, *feed.counts(feed.read(batch)))


def _made(probe: "Probe", loader: Any, iterator: Any) -> None:
    modules.leave(probe)
    data = type(loader.dataset)
    probe.folder.event(
        "loader",
        loader=id(loader),
        num_workers=loader.num_workers,
        batch_size=loader.batch_size,
        pin_memory=bool(loader.pin_memory),
        persistent_workers=bool(getattr(loader, "persistent_workers", False)),
        prefetch_factor=getattr(loader, "prefetch_factor", None),
        dataset="%s.%s" % (data.__module__, data.__qualname__),
        start_method=_start_method(loader),
    )
    for worker in getattr(iterator, "_workers", ()):
        probe.folder.event("worker", pid=worker.pid, loader=id(loader))


def _start_method(loader: Any) -> Optional[str]:
    context = getattr(loader, "multiprocessing_context", None)
    name = getattr(context, "_name", None)
    return name if isinstance(name, str) else None


class Feed:
    """How the batches of one iterator tell their samples and tokens."""

    def __init__(self, iterator: Any, batch: Any) -> None:
        sampler = getattr(iterator, "_index_sampler", iterator)
        self.key = id(sampler)
        """Iterators of one loader share its sampler of indices."""
        asked = getattr(sampler, "batch_size", None)
        self._asked: Optional[int] = asked if isinstance(asked, int) else None
        self._made_by_loader = bool(getattr(iterator, "_auto_collation", True))
        self._sampler = sampler
        self.read = _reader(batch)
        """The counts that a batch shows, at least cost: it runs in every lap."""

    def counts(self, shown: Counts) -> Counts:
        """What is believed of them: None where the loader did not make the batch, or its tensors do
        not have as many rows as the loader puts into one (a collate function that packs or
        transposes)."""
        asked, rows = self._asked, shown[0]
        if not self._made_by_loader:
            return None, None
        if asked is None or rows is None:
            return shown
        if rows == asked:
            if self.key not in _whole:
                _remember(self._sampler)
        elif rows > asked or self.key not in _whole:
            # Fewer rows are the last batch of an epoch, where others had as many as asked.
            return None, None
        return shown


def _remember(sampler: Any) -> None:
    try:
        _whole[id(sampler)] = sampler
    except TypeError:  # it cannot be referred to: its last batches stay unknown
        return


_whole: Any = weakref.WeakValueDictionary()
"""Samplers, by id, whose loaders have given batches with as many rows as asked."""


def _reader(batch: Any) -> Callable[[Any], Counts]:
    """The quickest way to the counts of batches like this one, which never raises."""
    kind = type(batch)
    if kind in (list, tuple) and size(batch)[0] is not None and _is_tensor(batch[0]):

        def rows_of_first(batch: Any) -> Counts:
            try:
                return batch[0].shape[0], None
            except Exception:
                return size(batch)

        return rows_of_first
    return size


def _is_tensor(value: Any) -> bool:
    return type(value).__name__ == "Tensor" and len(value.shape) > 0


def size(batch: Any) -> Counts:
    """Samples of a batch (rows of its first tensor), and tokens where it has rows of ids.

    None where that does not show. Tokens count padding.
    """
    try:
        return _size(batch, 0)
    except Exception:  # a batch may be anything
        return None, None


def _size(batch: Any, depth: int) -> Counts:
    if hasattr(batch, "num_graphs"):
        return int(batch.num_graphs), None
    if hasattr(batch, "batch_sizes"):  # a PackedSequence: sequences that have a first step
        return int(batch.batch_sizes[0]), None
    shape = getattr(batch, "shape", None)
    if shape is not None:
        return (int(shape[0]), None) if len(shape) else (None, None)
    if depth == 3:
        return None, None
    values = batch
    if hasattr(batch, "keys"):
        ids = batch["input_ids"] if "input_ids" in batch else None  # noqa: SIM401
        shape = getattr(ids, "shape", None)
        if shape is not None:  # without rows they are packed
            rows = len(shape) == 2
            return (int(shape[0]), int(shape[0]) * int(shape[1])) if rows else (None, None)
        values = batch.values()
    elif not isinstance(batch, (list, tuple)):
        return None, None
    for value in values:
        samples = _size(value, depth + 1)[0]
        if samples is not None:
            return samples, None
    return None, None
