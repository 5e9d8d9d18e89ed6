"""The accounts: classes of time, their order, and what each means.

Ids are stable. Order is the order of the tests: at each instant the first account whose condition
holds gets the time. An account that the evidence cannot split from others is called merged.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Account:
    """A class of time. ``parent`` groups accounts for display; only leaves hold time."""

    id: str
    parent: str | None
    title: str
    meaning: str


DEVICE_ACCOUNTS: tuple[Account, ...] = (
    Account("busy", None, "Device busy", "At least one kernel, copy or set is executing."),
    Account("compute", "busy", "Compute", "A compute kernel runs, no communication."),
    Account(
        "compute_with_comm",
        "busy",
        "Compute beside communication",
        "A compute kernel and communication run.",
    ),
    Account(
        "exposed_comm",
        "busy",
        "Exposed communication",
        "Communication without compute; transfer and waiting for late members are not told apart "
        "(one rank's trace does not show when the others arrived).",
    ),
    Account(
        "exposed_comm_transfer",
        "busy",
        "Exposed transfer",
        "Communication without compute, every member of the group has arrived.",
    ),
    Account(
        "exposed_comm_wait",
        "busy",
        "Exposed wait for members",
        "Communication without compute, some member has not arrived.",
    ),
    Account("exposed_copy", "busy", "Exposed copies", "Only memory copies or sets run."),
    Account("idle", None, "Device idle", "Nothing executes on the device."),
    Account("profiler", "idle", "Profiler", "The profiler's own overhead rows cover the instant."),
    Account("held", "idle", "Held back on the device", "Work is enqueued but has not started."),
    Account(
        "launch_latency",
        "held",
        "Launch latency",
        "Work was enqueued less than the launch latency floor ago.",
    ),
    Account(
        "kernel_gap",
        "held",
        "Gap between kernels",
        "Work is enqueued; its stream ended earlier work within the ordinary gap.",
    ),
    Account(
        "event_wait",
        "held",
        "Waiting for an event",
        "Work is enqueued and held longer than latency and the ordinary gap: an event of another "
        "stream, device or the host holds it.",
    ),
    Account("host", "idle", "Host has not enqueued", "No stream holds enqueued work."),
    Account(
        "input_wait",
        "host",
        "Waiting for input",
        "The thread that enqueues next is in the loader's next or a queue get.",
    ),
    Account(
        "host_sync",
        "host",
        "Host synchronisation",
        "The thread that enqueues next is in, or has just left, a blocking GPU call, and refills.",
    ),
    Account(
        "allocator", "host", "Allocator", "The thread is in a device or pinned memory allocation."
    ),
    Account("gc", "host", "Garbage collection", "The thread is in garbage collection."),
    Account("compile", "host", "Compilation", "The thread compiles, autotunes or captures."),
    Account("side_work", "host", "Side work", "The thread logs, checkpoints or runs callbacks."),
    Account("host_launch", "host", "Launch calls", "The thread is inside a launch call."),
    Account(
        "host_ops",
        "host",
        "Operators and Python",
        "The thread is inside an operator, a Python row or another API call.",
    ),
    Account("off_cpu", "host", "Off the CPU", "The thread is off the CPU (scheduler data)."),
    Account(
        "host_between_ops",
        "host",
        "Host between operators",
        "The thread is known but no row covers it: Python or off-CPU, which this evidence cannot "
        "tell apart.",
    ),
    Account(
        "unattributed",
        "idle",
        "Unattributed",
        "The feeding thread, its state, or the device's own work is not shown by any row.",
    ),
)

CPU_ACCOUNTS: tuple[Account, ...] = (
    Account("operators", None, "Operators", "The owning thread is inside an operator."),
    Account("input_wait", None, "Waiting for input", "Inside the loader's next or a queue get."),
    Account("gc", None, "Garbage collection", "Inside garbage collection."),
    Account("compile", None, "Compilation", "Inside tracing, compilation or autotuning."),
    Account("side_work", None, "Side work", "Logging, checkpoint, callbacks."),
    Account(
        "python", None, "Python outside operators", "Inside a Python row, outside any operator."
    ),
    Account(
        "between_ops",
        None,
        "Between operators",
        "The thread is known but no row covers it: Python, dispatch or off-CPU, which this "
        "evidence cannot tell apart.",
    ),
    Account("unattributed", None, "Unattributed", "The thread's state is not shown by any row."),
)

DEVICE_PARENTS = frozenset({"busy", "held", "host"})
"""Ids that only group; ``idle`` groups too but holds time itself when its parts cannot be told."""

MERGES: dict[str, tuple[str, ...]] = {
    "idle": ("held", "host", "profiler"),
    "exposed_comm": ("exposed_comm_transfer", "exposed_comm_wait"),
    "host_between_ops": ("host_ops", "off_cpu"),
    "between_ops": ("python", "off_cpu"),
}
"""What an account may hold of others when the evidence cannot separate them."""
