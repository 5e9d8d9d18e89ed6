"""Loaders: laps by batches, the size of batches, settings, and the worker processes."""

import functools
import weakref
from typing import TYPE_CHECKING, Any, Optional

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
        probe.guard(_came, probe, self, batch)
        return batch

    @functools.wraps(make)
    def _get_iterator(self: Any) -> Any:
        found = make(self)
        probe.guard(_made, probe, self, found)
        return found

    iterator.__next__ = following_batch
    if "next" in vars(iterator):
        iterator.next = following_batch
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
    if probe.laps.stage == "done":
        return
    if probe.laps.source in (None, "loader"):
        probe.laps.boundary("loader")
    samples, tokens = _counted(iterator, batch)
    # Iterators of one loader share its sampler of indices.
    probe.laps.items.came(id(getattr(iterator, "_index_sampler", iterator)), samples, tokens)


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


def _counted(iterator: Any, batch: Any) -> Counts:
    """Samples and tokens of a batch; None where the loader did not make it, or its tensors do not
    have as many rows as the loader puts into a batch (a collate function that packs or transposes).
    """
    if not getattr(iterator, "_auto_collation", True):
        return None, None
    sampler = getattr(iterator, "_index_sampler", None)
    asked = getattr(sampler, "batch_size", None)
    samples, tokens = size(batch)
    if samples is None or not isinstance(asked, int):
        return samples, tokens
    if samples == asked:
        try:
            _whole[id(sampler)] = sampler
        except TypeError:  # it cannot be referred to: its last batches stay unknown
            return samples, tokens
    elif samples > asked or id(sampler) not in _whole:
        # Fewer rows are the last batch of an epoch, where others had as many as asked.
        return None, None
    return samples, tokens


_whole: Any = weakref.WeakValueDictionary()
"""Samplers, by id, whose loaders have given batches with as many rows as asked."""


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
