from __future__ import annotations

import io
import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from laptime.explanation import Explanation
from laptime.model.errors import CannotTell
from laptime.report import as_json
from tests.report import made
from tests.report.test_terminal import MADE

SCHEMA = json.loads((files("laptime.report") / "explain-1.schema.json").read_text("utf-8"))


def written(explanation: Explanation) -> str:
    stream = io.StringIO()
    as_json.write(explanation, stream)
    return stream.getvalue()


def read(explanation: Explanation) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(written(explanation))
    return answer


def test_the_schema_is_a_schema_and_closed() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def closed(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert sorted(node["required"]) == sorted(node["properties"])
            for inner in node.values():
                closed(inner)
        elif isinstance(node, list):
            for inner in node:
                closed(inner)

    closed(SCHEMA)


@pytest.mark.parametrize("name", sorted(MADE))
def test_every_answer_meets_the_schema(name: str) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(read(MADE[name]()))


def test_equal_explanations_give_equal_ascii_bytes() -> None:
    assert written(made.hostile()) == written(made.hostile())
    assert written(made.hostile()).isascii()


@pytest.mark.parametrize("name", sorted(MADE))
def test_ledger_rows_are_leaves_and_sum_to_their_window(name: str) -> None:
    answer = read(MADE[name]())
    parents = {a["parent"] for a in answer["accounts"]}
    sums: dict[tuple[str, str], int] = {}
    for row in answer["ledger"]:
        assert row["account"] not in parents - {"idle"}  # where its parts cannot be told apart
        key = row["device"], row["lap"]
        sums[key] = sums.get(key, 0) + row["ns"]
    assert sums == {(w["device"], w["lap"]): w["dur_ns"] for w in answer["device_laps"]}
    assert {w["lap"] for w in answer["device_laps"]} <= {lap["id"] for lap in answer["laps"]}
    assert {w["device"] for w in answer["device_laps"]} <= {d["id"] for d in answer["devices"]}


def test_times_are_relative_to_one_origin() -> None:
    answer = read(made.two_ranks())
    assert answer["origin_ns"] == "1700000000123456789"
    starts = {lap["id"]: lap["start_ns"] for lap in answer["laps"]}
    assert starts["train0/lap1"] == 100 * made.MS
    assert starts["train1/lap1"] == 105 * made.MS
    assert answer["ranks"] == [0, 1]


def test_events_are_on_the_same_clock() -> None:
    finding = read(made.training())["findings"][0]
    assert finding["events"][0]["start_ns"] == 190 * made.MS
    assert finding["bound_ns"] == 59_300_000
    assert finding["gain"] is None
    assert finding["rank_by"] == "bound"


def test_laps_of_clocks_too_far_apart_are_refused_in_one_line() -> None:
    odd = made.two_ranks()
    far = replace(odd.views[1], timeline=made.timeline(1, 0))
    with pytest.raises(CannotTell, match="104 days"):
        read(replace(odd, views=[odd.views[0], far]))


def test_merged_accounts_and_losses_are_said() -> None:
    answer = read(made.training())
    assert [a["id"] for a in answer["accounts"] if a["merged"]] == ["host_between_ops"]
    assert answer["health"]["lost"] == 1
    assert any("first at byte 91234567" in w for w in answer["health"]["warnings"])


def test_the_thread_of_a_cpu_run_is_its_device() -> None:
    answer = read(made.cpu_only())
    assert answer["devices"] == [
        {"id": "thread 77", "rank": None, "host": None, "name": None, "uuid": None}
    ]
    assert {a["id"]: a["parent"] for a in answer["accounts"]}["input_wait"] is None


def test_kernels_are_summed_over_the_run() -> None:
    (kernel,) = read(made.two_ranks())["kernels"]
    assert (kernel["count"], kernel["ns"]) == (3720, 2 * (210 * made.MS + 123_456))


def test_a_finding_says_whose_it_is_and_all_that_the_report_says() -> None:
    finding = read(made.training())["findings"][0]
    assert (finding["rank"], finding["device"]) == (None, "gpu0")
    assert finding["formula"] == made.INPUT.formula
    assert finding["why"] == list(made.INPUT.why)
    assert finding["next_step"] == list(made.INPUT.next_step)


def test_what_was_ruled_out_and_silenced_is_listed() -> None:
    answer = read(made.training())
    assert [c["id"] for c in answer["clear"]] == ["exposed-collectives", "launch-bound"]
    assert answer["clear"][0]["why"] == "no communication runs on the device"
    assert answer["silenced"] == [
        {
            "id": "host-synchronisation",
            "rank": None,
            "device": "gpu0",
            "share": 0.006,
            "bound_ns": 1_100_000,
        }
    ]


def test_one_rank_is_a_part_of_the_whole_answer() -> None:
    whole = read(made.two_ranks())
    stream = io.StringIO()
    as_json.write(made.two_ranks(), stream, rank=1)
    one = json.loads(stream.getvalue())
    jsonschema.Draft202012Validator(SCHEMA).validate(one)
    assert one["ranks"] == [1]
    assert (one["origin_ns"], one["verdict"]) == (whole["origin_ns"], whole["verdict"])
    for key in ("laps", "findings", "abstentions", "clear", "devices"):
        assert one[key] == [x for x in whole[key] if x["rank"] == 1], key
        assert one[key]
    for key in ("device_laps", "ledger"):
        assert one[key] == [x for x in whole[key] if x["device"] == "gpu1"], key
    assert sum(k["ns"] for k in one["kernels"]) == 210 * made.MS + 123_456


def test_a_note_of_one_of_several_ranks_says_whose_it_is() -> None:
    odd = made.two_ranks()
    views = [
        replace(v, ledger=replace(v.ledger, devices=[replace(d, notes=["idle is not split"])]))
        for v in odd.views
        for d in v.ledger.devices
    ]
    told = read(replace(odd, views=views))["health"]["warnings"]
    assert told == ["rank 0: idle is not split", "rank 1: idle is not split"]
    unlabelled = [replace(v, timeline=replace(v.timeline, rank=None)) for v in views]
    told = read(replace(odd, views=unlabelled))["health"]["warnings"]
    assert told == ["train0: idle is not split", "train1: idle is not split"]
    assert read(replace(odd, views=views[:1]))["health"]["warnings"] == ["idle is not split"]
