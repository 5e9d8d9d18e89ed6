from __future__ import annotations

from dataclasses import replace

from laptime.causes.case import Clear
from laptime.causes.registry import causes
from laptime.report import by_layer
from tests.report import made


def test_causes_of_one_run_stand_by_layer_with_like_figures_once() -> None:
    none = "no communication in the counted laps"
    clear = [
        Clear("many-small-collectives", none),
        Clear("host-sync", "blocking calls leave the device idle for 0.4 % of the lap"),
        Clear("exposed-collectives", none),
        Clear("not-of-the-catalogue", "0 of it"),
    ]
    answer = made.training()
    said = replace(answer.judgement, clear=clear)
    layers = by_layer.ruled_out(answer, said, False)
    assert [(x.name, list(x.causes)) for x in layers] == [
        ("communication", ["many-small-collectives", "exposed-collectives"]),
        ("host", ["host-sync"]),
        ("other", ["not-of-the-catalogue"]),
    ]
    assert layers[0].rows == [("many-small-collectives, exposed-collectives", none)]
    assert by_layer.number(layers) == 4


def test_ranks_are_named_where_they_are_not_all() -> None:
    answer = made.eight_ranks()
    said = replace(
        answer.judgement,
        clear=[
            *(Clear("host-sync", f"{rank} calls", rank) for rank in range(8)),
            # Two texts on all ranks together: nothing is left to name in the short form.
            *(Clear("gc-pauses", "none" if rank else "0.1 % of it", rank) for rank in range(8)),
            *(Clear("launch-bound", "ahead" if rank else "level", rank) for rank in range(3)),
        ],
    )
    (host,) = by_layer.ruled_out(answer, said, True)
    assert list(host.causes) == [
        "host-sync",
        "gc-pauses",
        "launch-bound on 3 of 8 ranks (0-2)",
    ]
    assert ("host-sync, all 8 ranks", "0 to 7 calls") in host.rows
    assert ("launch-bound, 1 of 8 ranks (0)", "level") in host.rows
    assert ("launch-bound, 2 of 8 ranks (1-2)", "ahead") in host.rows


def test_every_cause_ruled_out_is_in_exactly_one_layer() -> None:
    answer = made.training()
    said = replace(answer.judgement, clear=[Clear(c.id, f"{c.id}: 0") for c in causes()])
    layers = by_layer.ruled_out(answer, said, False)
    ids = [id_ for layer in layers for id_ in layer.causes]
    assert sorted(ids) == sorted(c.id for c in causes())
    assert {x.name for x in layers} == {c.layer for c in causes()}
