"""The frame: causes found by listing, ranked by bound, symptoms silenced, faults not hidden."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.registry import causes, judge
from tests.causes.made import Made

EIGHT = [
    "exposed-collectives",
    "fp32-matmul",
    "healthy",
    "host-sync",
    "input-starvation",
    "launch-bound",
    "pageable-copies",
    "unhealthy-trace",
]
SECTIONS = [
    "What it is",
    "How it shows",
    "Why it costs",
    "How the gain is predicted",
    "What is not flagged",
    "Must not flag",
]


@dataclass
class Fake:
    """A cause that answers what it is told to."""

    id: str
    share: float | None = None
    bound_ns: int | None = None
    silences: Sequence[str] = ()
    title: str = "Fake"
    layer: str = "host"
    needs: Sequence[Need] = ()
    device: str | None = "gpu0"
    answer: Outcome | None = field(default=None)

    def look(self, case: Case) -> Outcome:
        return self.answer or Finding(
            self.id, self.title, "It is.", self.share, self.bound_ns, "", self.device, None
        )


class Broken(Fake):
    def look(self, case: Case) -> Outcome:
        raise ZeroDivisionError("fault")


def half_idle() -> Case:
    made = Made()
    for lap in made.each():
        made.account("host_ops", lap, lap + 50.0)
    return made.case()


def ids(findings: Sequence[Finding]) -> list[str]:
    return [f.id for f in findings]


def test_the_folder_holds_the_first_eight() -> None:
    assert set(EIGHT) <= {c.id for c in causes()}
    assert [c.id for c in causes()] == sorted(c.id for c in causes())


@pytest.mark.parametrize("cause", causes(), ids=lambda c: c.id)
def test_every_page_has_its_sections_in_order(cause: object) -> None:
    page = inspect.getdoc(type(cause)) or ""
    at = [page.find(f"\n{section}\n") for section in SECTIONS]
    assert min(at) >= 0
    assert at == sorted(at)


@pytest.mark.parametrize("cause", causes(), ids=lambda c: c.id)
def test_silenced_ids_exist(cause: object) -> None:
    assert set(getattr(cause, "silences")) <= {c.id for c in causes()}  # noqa: B009


def test_rank_is_by_bound_then_share_then_id() -> None:
    case = half_idle()
    fakes = [
        Fake("b", 0.1, 5),
        Fake("a", 0.1, 5),
        Fake("c", 0.2, 5),
        Fake("d", 0.9, None),
        Fake("e", 0.01, 9),
    ]
    assert ids(judge(case.run, [case], using=fakes).findings) == ["e", "c", "a", "b", "d"]


def test_a_specific_cause_silences_a_symptom_it_explains() -> None:
    case = half_idle()
    symptom = Fake("symptom", 0.1, 10)
    most = judge(case.run, [case], [Fake("cause", 0.3, 30, ("symptom",)), symptom])
    assert ids(most.findings) == ["cause"]
    assert ids(most.silenced) == ["symptom"]
    little = judge(case.run, [case], [Fake("cause", 0.2, 20, ("symptom",)), symptom])
    assert ids(little.findings) == ["cause", "symptom"]


def test_causes_add_up_when_they_silence() -> None:
    case = half_idle()
    judged = judge(
        case.run,
        [case],
        [
            Fake("one", 0.15, 15, ("symptom",)),
            Fake("two", 0.15, 15, ("symptom",)),
            Fake("symptom", 0.1, 10),
        ],
    )
    assert ids(judged.silenced) == ["symptom"]


def test_another_device_is_not_silenced() -> None:
    case = half_idle()
    other = Fake("cause", 0.5, 50, ("symptom",), device="gpu7")
    assert ids(judge(case.run, [case], [other, Fake("symptom", 0.1, 1)]).silenced) == []


def test_a_missing_need_abstains_without_looking() -> None:
    case = replace(half_idle(), has=frozenset({Need.GPU_ROWS}))
    broken = Broken("x", needs=(Need.GPU_ROWS, Need.STACKS, Need.SHAPES))
    judged = judge(case.run, [case], [broken])
    assert judged.abstentions == (
        Abstention(
            "x",
            ("stacks", "shapes"),
            "profile with with_stack=True; profile with record_shapes=True",
        ),
    )


def test_a_fault_of_a_cause_is_not_hidden() -> None:
    case = half_idle()
    with pytest.raises(ZeroDivisionError):
        judge(case.run, [case], [Broken("x")])


def test_every_case_is_judged_by_itself() -> None:
    first = half_idle()
    second = Made(rank=1).case()
    judged = judge(first.run, [first, second])
    assert ids(judged.findings) == ["healthy"]
    assert judged.findings[0].rank == 1
    assert {c.id for c in judged.clear if isinstance(c, Clear) and c.rank is None} >= {"healthy"}


def test_inferred_laps_limit_confidence() -> None:
    case = half_idle()
    laps = replace(case.ledger.laps, source="repetition", confidence=0.8)
    inferred = replace(case, ledger=replace(case.ledger, laps=laps))
    assert judge(case.run, [case], [Fake("x", 0.1, 1)]).findings[0].confidence == 1.0
    assert judge(case.run, [inferred], [Fake("x", 0.1, 1)]).findings[0].confidence == 0.8
