"""What a capture says beside the ledger, in the terminal, on the page and as JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path

from jsonschema import Draft202012Validator

from laptime.evidence.registry import open_run
from laptime.explaining import explanation_of
from laptime.explanation import Explanation
from laptime.report import as_json, html, layout, terminal
from laptime.report.as_json import explain_object
from tests.builder.host import MS
from tests.builder.scenarios import SCENARIOS
from tests.causes.captured import LAP_NS, building

SCHEMA = Path(as_json.__file__).with_name("explain-1.schema.json")


def captured(folder: Path) -> Explanation:
    made = building(plain_ns=[94 * MS, 96 * MS, 95 * MS, 95 * MS], items=32, residual_ns=12_300)
    return explanation_of(open_run(made.write(folder / "capture")))


def printed(explanation: Explanation) -> str:
    to = io.StringIO()
    terminal.render(explanation, layout.console(to, 200))
    return to.getvalue()


def test_the_unprofiled_lap_stands_beside_the_ledger(tmp_path: Path) -> None:
    text = printed(captured(tmp_path))
    assert (
        "without the profiler 95.0 ms (95 % 93.7 to 96.3 ms, 4 laps) a lap; recording costs +5.3 % "
        "(95 % +3.9 % to +6.6 %)"
    ) in text
    assert "throughput 337 samples/s, without the profiler" in text
    assert "residual 12.3 us" in text
    assert "read every 50.0 ms from outside the program; what that took is not measured" in text
    assert "10 laps counted by laptime run: optimizer steps; 10 steady" in text


def test_the_page_says_the_same(tmp_path: Path) -> None:
    page = html.page(captured(tmp_path))
    assert "Without the profiler: 95.0 ms" in page
    assert "residual 12.3 us" in page


def test_json_carries_the_figures_and_fits_its_schema(tmp_path: Path) -> None:
    item = explain_object(captured(tmp_path))
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(item)
    (told,) = item["capture"]
    assert told["plain_mean_ns"] == 95 * MS
    recorded = [told[f"recorded_{k}"] for k in ("laps", "mean_ns", "low_ns", "high_ns")]
    assert recorded == [10, LAP_NS, LAP_NS, LAP_NS]
    assert told["cost"] == round(5 / 95, 6)
    assert told["clock_residual_ns"] == 12_300
    assert told["sampler_core_share"] is None
    assert told["cores_usable"] == 4


def test_a_trace_alone_names_in_one_line_what_only_a_capture_shows(tmp_path: Path) -> None:
    path = SCENARIOS["launch_bound"](None).trace.write(tmp_path / "trace.json")
    explanation = explanation_of(open_run(path))
    text = printed(explanation)
    lines = " ".join(text.split())
    assert (
        "not judged without a capture (laptime run): checkpoint-stalls, cpu-contention, " in lines
    )
    assert lines.count("cpu-throttling") == 1
    assert explain_object(explanation)["capture"] == []
    page = " ".join(html.page(explanation).split())
    assert page.count("cpu-oversubscription") == 1


def test_a_killed_window_still_tells_its_laps(tmp_path: Path) -> None:
    made = building(plain_ns=[95 * MS] * 3)
    made.of_process = {"state": "recording"}
    folder = made.write(tmp_path)
    (folder / "p100" / "trace.json.gz").unlink()
    text = printed(explanation_of(open_run(folder)))
    assert "window of process 100 was lost" in text
    told = "process 100 has no trace; 13 laps counted, steady ones 95.0 ms (95 % 95.0 to 95.0 ms, "
    assert told in " ".join(text.split())
