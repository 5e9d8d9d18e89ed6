"""The whole table: the families in the order in which they are asked.

Order matters where families overlap. Communication comes first, since it must be recognised
whatever library wraps it; then attention, whose kernels live inside CUTLASS, vLLM and AITER
namespaces; then the vendors. The `unknown` operation of a rule means that the library is certain
and the operation is not.
"""

from __future__ import annotations

from laptime.kernels import (
    table_amd,
    table_attention,
    table_comm,
    table_nvidia,
    table_serving,
    table_torch,
    table_training,
    table_triton,
    table_xla,
)
from laptime.kernels.rules import Rule, Table

_FAMILIES = (
    (table_comm.PATH, table_comm.BASE),
    (table_attention.PATH, table_attention.BASE),
    (table_torch.PATH, table_torch.BASE),
    (table_nvidia.PATH, table_nvidia.BASE),
    (table_amd.PATH, table_amd.BASE),
    (table_serving.PATH, table_serving.BASE),
    (table_training.PATH, table_training.BASE),
    (table_triton.PATH, table_triton.BASE),
)

PATH_RULES: tuple[Rule, ...] = tuple(rule for path, _ in _FAMILIES for rule in path)
BASE_RULES: tuple[Rule, ...] = tuple(rule for _, base in _FAMILIES for rule in base)

BY_PATH = Table(PATH_RULES)
BY_BASE = Table(BASE_RULES)
BY_FUSION = Table(table_xla.BASE)
