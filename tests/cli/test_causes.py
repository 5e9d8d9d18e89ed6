"""``laptime causes``: the list and the pages, as text and as JSON."""

from __future__ import annotations

import json

import pytest

from laptime.causes.catalogue import HEADINGS
from laptime.causes.registry import causes
from laptime.cli import main


def test_lists_every_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["causes"]) == 0
    said = capsys.readouterr().out
    first_words = [line.split(" ")[0] for line in said.splitlines() if line]
    assert [c.id for c in causes()] == [w for w in first_words if w in {c.id for c in causes()}]
    assert f"{len(causes())} causes" in said


def test_shows_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["causes", "host-sync"]) == 0
    said = capsys.readouterr().out
    for heading in HEADINGS:
        assert f"\n{heading}\n" in said
    assert "``" not in said
    assert "explains" in said


def test_unknown_id_names_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["causes", "starvation"]) == 2
    assert "input-starvation" in capsys.readouterr().err


def test_json_holds_what_the_docstrings_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["causes", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["schema"] == "laptime.causes/1"
    assert [c["id"] for c in said["causes"]] == [c.id for c in causes()]
    assert main(["causes", "host-sync", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["causes"]
    assert one in said["causes"]
    assert [n["need"] for n in one["needs"]] == ["gpu_rows", "launch_calls"]
