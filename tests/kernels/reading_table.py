"""The form in which the tests of this folder write down what a name must be read as."""

from __future__ import annotations

from typing import NamedTuple

from laptime.kernels import decode
from laptime.kernels.operations import COMM_OPERATIONS


class Case(NamedTuple):
    """A literal kernel name and its reading; tile and arch are checked where given."""

    name: str
    library: str
    operation: str
    dtype: str | None = None
    tensor_core: bool | None = None
    tile: str | None = None
    arch: str | None = None


def check(case: Case) -> None:
    seen = decode(case.name)
    assert (seen.library, seen.operation) == (case.library, case.operation)
    assert seen.dtype == case.dtype
    assert seen.tensor_core is case.tensor_core
    assert seen.comm is (case.operation in COMM_OPERATIONS)
    if case.tile is not None:
        assert seen.tile == case.tile
    if case.arch is not None:
        assert seen.arch == case.arch
