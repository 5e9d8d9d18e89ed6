"""What names of host rows say of their thread."""

from __future__ import annotations

import pytest

from laptime.ledger.states import State, of_region
from laptime.model.rows import Kind


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("triton/runtime/autotuner.py(196): run", State.PYTHON),
        ("triton/runtime/autotuner.py(138): _bench", State.COMPILE),
        ("triton/runtime/autotuner.py(206): benchmark", State.COMPILE),
        ("triton/compiler/compiler.py(226): compile", State.COMPILE),
        ("triton/testing.py(96): do_bench", State.COMPILE),
        ("torch/_dynamo/convert_frame.py(715): _compile", State.COMPILE),
        ("torch/_dynamo/eval_frame.py(738): _fn", State.PYTHON),
    ],
)
def test_calling_what_was_tuned_or_compiled_before_is_no_compilation(
    name: str, state: State
) -> None:
    assert of_region(name, Kind.PYTHON) is state
