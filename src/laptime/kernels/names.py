"""What a kernel's name says."""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN = "unknown"


@dataclass(frozen=True)
class KernelName:
    """What can be read off a kernel's name. A field the name does not show is None.

    ``library`` and ``operation`` are ``UNKNOWN`` where no rule of the table holds. ``dtype`` is the
    input data type ("fp32", "tf32", "bf16", "fp16", "fp8", "fp64", "int8", ...). ``tile`` as in
    "128x128x32". ``tensor_core``: True, False, or None where the name does not tell. ``arch`` as in
    "sm80" or "gfx942". ``comm``: the kernel communicates with other devices.
    """

    name: str
    library: str = UNKNOWN
    operation: str = UNKNOWN
    dtype: str | None = None
    tile: str | None = None
    tensor_core: bool | None = None
    arch: str | None = None
    comm: bool = False
