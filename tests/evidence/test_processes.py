"""Two processes in one file: each is told as if it stood alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import laptime
from tests.evidence_files import evidence_root, needs_evidence


@needs_evidence
def test_two_merged_ranks_have_the_ledgers_of_the_two(tmp_path: Path) -> None:
    root = evidence_root()
    assert root is not None
    files = sorted((root / "kineto/param-dlrm-8ranks").glob("*.gz"))[:2]
    traces = [json.loads(gzip.decompress(f.read_bytes())) for f in files]
    merged = tmp_path / "merged.json"
    merged.write_text(
        json.dumps(
            {
                "deviceProperties": traces[0]["deviceProperties"],
                "traceEvents": [e for t in traces for e in t["traceEvents"]],
            }
        )
    )
    both = laptime.explain(laptime.open(str(merged)))
    alone = [laptime.explain(laptime.open(str(f))) for f in files]
    assert len(both.views) == 2
    assert any("holds 2 processes" in w for w in both.run.health.warnings)
    found = {str(v.timeline.pid): v.ledger.devices[0] for v in both.views}
    for one in alone:
        wanted = one.views[0].ledger.devices[0]
        got = found[str(one.views[0].timeline.pid)]
        assert [leaf.id for leaf in got.leaves] == [leaf.id for leaf in wanted.leaves]
        assert got.ns.tolist() == wanted.ns.tolist()
        assert [w.dur_ns for w in got.windows] == [w.dur_ns for w in wanted.windows]


def test_a_single_profiler_row_on_another_pid_is_no_process(tmp_path: Path) -> None:
    def op(pid: int, ts: int) -> dict[str, object]:
        return {
            "ph": "X",
            "cat": "cpu_op",
            "name": "aten::mm",
            "pid": pid,
            "tid": pid,
            "ts": ts,
            "dur": 5,
        }

    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [op(7, 10 * i) for i in range(9)] + [op(0, 3)]}))
    assert len(laptime.open(str(path)).timelines) == 1
