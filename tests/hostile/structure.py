"""Traces whose events are each sound and together are not, and traces of absurd scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.hostile.containers import of
from tests.hostile.pieces import Event, events, gzip_of, listed, raw, trace
from tests.hostile.running import ANSWER, ERROR, NOTHING, Case

ANY = ERROR | NOTHING | ANSWER
BASE_US = 1_000_000
HOST: Event = {"ph": "X", "pid": 10, "tid": 10}
MARK: Event = {**HOST, "cat": "user_annotation"}
WITHOUT_MARKS = [e for e in events() if not str(e["name"]).startswith("ProfilerStep")]


def marks(spans: Iterable[tuple[int, int]]) -> list[Event]:
    return [
        {**MARK, "name": f"ProfilerStep#{i}", "ts": BASE_US + at, "dur": dur}
        for i, (at, dur) in enumerate(spans)
    ]


def of_category(*categories: str) -> list[Event]:
    return [e for e in events() if e["cat"] in categories]


def flows(n: int) -> list[Event]:
    flow: Event = {"cat": "ac2g", "name": "ac2g", "pid": 10, "tid": 10}
    return [{**flow, "ph": "sf"[i % 2], "id": i // 2, "ts": BASE_US + i} for i in range(n)]


def metadata(n: int) -> list[Event]:
    row: Event = {"ph": "M", "name": "thread_name", "ts": 0}
    return [{**row, "pid": i, "tid": i, "args": {"name": f"thread {i}"}} for i in range(n)]


def kernels_first() -> list[Event]:
    return [{**e, "ts": e["ts"] - 500} if e["cat"] == "kernel" else e for e in events()]


def lines(n: int, line: str) -> bytes:
    """``n`` items, ``%d`` in them replaced by their number."""
    return listed([line.replace("%d", str(i)).encode() for i in range(n)])


def kernels(n: int, name: str, stream: str = "7", device: str = "0") -> bytes:
    return lines(
        n,
        f'{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":{stream},"ts":%d,"dur":1,'
        f'"args":{{"device":{device},"stream":{stream}}}}}',
    )


def ops(n: int, name: str = "f", pid: str = "1", tid: str = "1", ts: str = "%d") -> bytes:
    return lines(
        n,
        f'{{"ph":"X","cat":"cpu_op","name":"{name}","pid":{pid},"tid":{tid},"ts":{ts},"dur":1}}',
    )


def phases(*events_: tuple[str, int, str]) -> Iterator[Event]:
    for ph, ts, name in events_:
        yield {**HOST, "ph": ph, "cat": "cpu_op", "name": name, "ts": BASE_US + ts}


CASES = [
    Case("flows only", of(trace(flows(1000))), NOTHING),
    Case("metadata only", of(trace(metadata(1000))), NOTHING),
    Case("header only", of(trace([])), NOTHING),
    Case("steps only", of(trace(marks((i * 10, 10) for i in range(50)))), ANY),
    Case(
        "steps without work inside",
        of(trace([*marks((i * 10 + 10**6, 10) for i in range(50)), *WITHOUT_MARKS])),
        ANSWER,
    ),
    Case(
        "steps that overlap",
        of(trace([*marks((i * 10, 900) for i in range(400)), *WITHOUT_MARKS])),
        ANSWER,
    ),
    Case(
        "steps inside steps",
        of(trace([*marks((i, 5000 - 2 * i) for i in range(2000)), *WITHOUT_MARKS])),
        ANSWER,
    ),
    Case("steps that are all one", of(trace([*marks([(0, 5000)] * 300), *WITHOUT_MARKS])), ANSWER),
    Case(
        "steps of no length",
        of(trace([*marks((i, 0) for i in range(300)), *WITHOUT_MARKS])),
        ANSWER,
    ),
    Case(
        "steps on every thread",
        of(
            trace(
                [
                    *events(),
                    *({**m, "tid": i} for i, m in enumerate(marks((0, 5000) for _ in range(500)))),
                ]
            )
        ),
        ANSWER,
    ),
    Case("kernels only", of(trace(of_category("kernel"))), ANSWER),
    Case("calls only", of(trace(of_category("cuda_runtime"))), ANSWER),
    Case("operators only", of(trace(of_category("cpu_op"))), ANSWER),
    Case("kernels before their launches", of(trace(kernels_first())), ANSWER),
    Case("one event", of(listed([raw()])), ANSWER),
    Case("one kernel", of(kernels(1, "k")), ANSWER),
    Case("reversed order", of(trace(reversed(events()))), ANSWER),
    Case("every event a hundred times", of(trace(events() * 100)), ANSWER),
    Case(
        "ends before begins",
        of(trace([*phases(("E", 1, "a"), ("E", 2, "b"), ("B", 3, "a")), *events()])),
        ANSWER,
        "end without begin",
    ),
    Case(
        "begins crossed with ends",
        of(
            trace(
                [
                    *events(),
                    *phases(
                        ("B", 1, "a"), ("B", 2, "b"), ("E", 3, "a"), ("E", 4, "b"), ("B", 9, "c")
                    ),
                ]
            )
        ),
        ANSWER,
    ),
    Case("a hundred thousand begins", of(lambda: lines(10**5, RAW_BEGIN)), NOTHING, "begin"),
    Case(
        "two million begins", of(lambda: lines(2 * 10**6, RAW_BEGIN)), NOTHING, "begin", slow=True
    ),
    Case(
        "a million begins on as many threads",
        of(lambda: lines(10**6, RAW_BEGIN.replace('"tid":1', '"tid":%d'))),
        NOTHING,
        "begin",
        slow=True,
    ),
    Case("a hundred thousand streams", of(lambda: kernels(10**5, "k", "%d")), ANSWER, slow=True),
    Case(
        "a hundred thousand steps",
        of(lambda: trace(marks((i * 10, 10) for i in range(10**5)))),
        ANY,
        slow=True,
    ),
    Case(
        "a hundred thousand steps with work",
        of(lambda: trace(small_steps(10**5))),
        ANSWER,
        slow=True,
    ),
    Case(
        "ten thousand devices", of(lambda: kernels(10**4, "k", "7", "%d")), ANSWER, "past the first"
    ),
    Case(
        "a million devices",
        of(lambda: kernels(10**6, "k", "7", "%d")),
        ANSWER,
        "past the first",
        slow=True,
    ),
    Case("a million names", of(lambda: ops(10**6, "name number %d")), ANSWER, slow=True),
    Case("a million kernel names", of(lambda: kernels(10**6, "gemm_%d_tn")), ANSWER, slow=True),
    Case("a million threads", of(lambda: ops(10**6, tid="%d")), ANY, slow=True),
    Case("a million processes", of(lambda: ops(10**6, pid="%d")), ANY, slow=True),
    Case("a million text threads", of(lambda: ops(10**6, tid='"t%d"')), ANY, slow=True),
    Case("a million metadata items", of(lambda: lines(10**6, META)), NOTHING, slow=True),
    Case("a million flows", of(lambda: trace(flows(10**6))), NOTHING, slow=True),
    Case(
        "a million header entries",
        of(
            lambda: (
                b"{"
                + b",".join(f'"k{i}":{i}'.encode() for i in range(10**6))
                + b',"traceEvents":['
                + raw()
                + b"]}"
            )
        ),
        ANSWER,
        slow=True,
    ),
    Case(
        "a million nested spans",
        of(
            lambda: lines(
                10**6, '{"ph":"X","cat":"cpu_op","name":"f","pid":1,"tid":1,"ts":%d,"dur":9000000}'
            )
        ),
        ANY,
        slow=True,
    ),
    Case(
        "four million equal events",
        of(
            lambda: gzip_of(
                [
                    (b'{"traceEvents":[' + raw() + b"\n", 1),
                    ((b"," + raw() + b"\n") * 10**4, 400),
                    (b"]}", 1),
                ]
            )
        ),
        ANY,
        slow=True,
    ),
]

RAW_BEGIN = '{"ph":"B","cat":"cpu_op","name":"f","pid":1,"tid":1,"ts":%d}'
META = '{"ph":"M","name":"thread_name","pid":%d,"tid":%d,"args":{"name":"thread %d"}}'


def small_steps(n: int) -> Iterator[Event]:
    for i in range(n):
        at = BASE_US + 20 * i
        yield {**MARK, "name": f"ProfilerStep#{i}", "ts": at, "dur": 20}
        yield {
            **HOST,
            "cat": "cuda_runtime",
            "name": "cudaLaunchKernel",
            "ts": at + 2,
            "dur": 3,
            "args": {"correlation": i},
        }
        yield {
            "ph": "X",
            "cat": "kernel",
            "name": "k",
            "pid": 0,
            "tid": 7,
            "ts": at + 6,
            "dur": 9,
            "args": {"device": 0, "stream": 7, "correlation": i},
        }
