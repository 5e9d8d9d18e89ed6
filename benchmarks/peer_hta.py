"""HolisticTraceAnalysis on one trace: load, and four analyses. Run by a Python that has it.

    PYTHON peer_hta.py FILE

prints one JSON object as its last line: version, and wall seconds or the error of each part. Uses
nothing of laptime, so that the environment need not have it.
"""

import json
import logging
import os
import sys
import tempfile
import time
from importlib.metadata import version


def main(path: str) -> None:
    logging.disable(logging.CRITICAL)
    parts: dict[str, object] = {}
    keep: dict[str, object] = {}

    def part(name, work):  # type: ignore[no-untyped-def]
        begin = time.perf_counter()
        try:
            keep[name] = work()
            parts[name] = round(time.perf_counter() - begin, 3)
        except Exception as error:
            parts[name] = f"{type(error).__name__}: {str(error)[:200]}"

    begin = time.perf_counter()
    from hta.trace_analysis import TraceAnalysis

    imports = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(path), os.path.join(folder, os.path.basename(path)))
        where = os.path.join(folder, os.path.basename(path))
        part("load", lambda: TraceAnalysis(trace_files={0: where}, trace_dir=folder))
        traces = keep.get("load")
        if traces is not None:
            part("temporal", lambda: traces.get_temporal_breakdown(visualize=False))
            part("overlap", lambda: traces.get_comm_comp_overlap(visualize=False))
            part("kernels", lambda: traces.get_gpu_kernel_breakdown(visualize=False))
            part("critical_path", lambda: _critical_path(traces))
    print()
    print(
        json.dumps(
            {
                "hta": version("HolisticTraceAnalysis"),
                "pandas": version("pandas"),
                "imports": round(imports, 3),
                "parts": parts,
            }
        )
    )


def _critical_path(traces):  # type: ignore[no-untyped-def]
    graph, worked = traces.critical_path_analysis(0, "ProfilerStep", 1)
    if not worked:
        raise RuntimeError("the analysis says that it failed")
    return graph


if __name__ == "__main__":
    main(sys.argv[1])
