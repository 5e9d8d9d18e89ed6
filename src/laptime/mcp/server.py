"""The tools of the server, each a thin call into ``answers`` and ``queries``."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Annotated, ParamSpec, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from laptime import __version__
from laptime.mcp import answers, queries
from laptime.mcp.results import (
    CausesAnswer,
    ExplainAnswer,
    RunAnswer,
    SqlAnswer,
    TablesAnswer,
    WhyAnswer,
)
from laptime.mcp.runs import Asked, Runs
from laptime.model.errors import LaptimeError

INSTRUCTIONS = """\
laptime accounts for every nanosecond of each lap (training step, engine iteration) in a PyTorch
profiler trace, a folder of ranks, a capture of `laptime run` or a saved run, and names what costs
it. Start with `explain`; ask `why` for the formula and events behind a cause; `sql` for anything
else (`tables` lists the tables). Answers are deterministic: equal evidence, equal figures. A bound
is the most that a cause can cost, by arithmetic on the ledger; it is not a predicted gain. What is
null or listed as not judged was not measured: it is not zero. left_out counts items not shown."""

READ_ONLY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

P = ParamSpec("P")
R = TypeVar("R")

Path = Annotated[
    str, Field(description="a trace (plain, gzip, zstd), a folder of ranks, or a saved run")
]
More = Annotated[list[str], Field(description="further files of the same run, such as its ranks")]
Rank = Annotated[int | None, Field(ge=0, description="this rank only")]
Lap = Annotated[str | None, Field(description="take marks of this name as the laps")]
Loader = Annotated[
    list[str], Field(description="marks or Python functions that count as loading of input")
]


def server(roots: Sequence[str] = ()) -> MCPServer:
    """A server that reads local files, of ``roots`` only where any are given."""
    runs = Runs(roots)
    made: MCPServer = MCPServer(
        "laptime",
        title="laptime",
        version=__version__,
        instructions=INSTRUCTIONS,
        log_level="WARNING",
    )

    def tool(function: Callable[P, R]) -> None:
        made.add_tool(_said(function), annotations=READ_ONLY, structured_output=True)

    def open(path: Path, more_paths: More = []) -> RunAnswer:  # noqa: B006
        """What a path holds: processes, laps and how they were found, devices, what was lost."""
        return answers.run_answer(runs.explanation(Asked((path, *more_paths))))

    def explain(
        path: Path,
        more_paths: More = [],  # noqa: B006
        rank: Rank = None,
        lap: Lap = None,
        loader: Loader = [],  # noqa: B006
    ) -> ExplainAnswer:
        """Where the time of each lap went and why: verdict, ledger (mean per steady lap; the
        accounts of a device sum to its mean window), causes found, ruled out and not judged."""
        asked = Asked((path, *more_paths), lap, tuple(loader))
        return answers.explain_answer(runs.explanation(asked), rank)

    def why(
        path: Path,
        cause: Annotated[str, Field(description="id of the cause, such as input-starvation")],
        more_paths: More = [],  # noqa: B006
        rank: Rank = None,
        lap: Lap = None,
        loader: Loader = [],  # noqa: B006
        events: Annotated[int, Field(ge=0, le=100, description="events of each finding")] = 20,
        skip: Annotated[int, Field(ge=0, description="events to skip")] = 0,
    ) -> WhyAnswer:
        """The formula and the events behind one cause, or why it is ruled out or not judged."""
        asked = Asked((path, *more_paths), lap, tuple(loader))
        return answers.why_answer(runs.explanation(asked), cause, rank, events, skip)

    def sql(
        path: Path,
        query: Annotated[str, Field(description="one SELECT in DuckDB's dialect")],
        rows: Annotated[int, Field(ge=1, le=1000, description="most rows to answer")] = 100,
    ) -> SqlAnswer:
        """One SELECT over the run's documented tables. It reads the run and nothing else."""
        return queries.sql_answer(runs, path, query, rows)

    def tables() -> TablesAnswer:
        """The tables that sql knows, with columns, units and meanings."""
        return queries.tables_answer()

    def causes(
        cause: Annotated[str | None, Field(description="id of one cause, for its page")] = None,
    ) -> CausesAnswer:
        """The catalogue of causes, or one cause's page: how it shows, what is not flagged."""
        return answers.causes_answer(cause)

    for each in (open, explain, why, sql, tables, causes):
        tool(each)
    return made


def _said(function: Callable[P, R]) -> Callable[P, R]:
    """The tool with errors in laptime's own words, one line each."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except LaptimeError as error:
            raise ToolError(" ".join(str(error).split())) from None
        except Exception as error:
            logging.getLogger("laptime").exception("internal fault")
            raise ToolError(
                f"internal fault of laptime: {type(error).__name__}: {error}; please report it"
            ) from None

    return called
