"""The kernel decoder measured against names labelled without sight of its table.

``labelled.json`` holds kernel names as profilers print them, each with the library and operation
a reader gave it before the decoder existed; ``labelled_second.json`` holds other names, labelled by
another reader after the decoder had been repaired on the first. Each file is held to the limits by
itself. For each name the decoder is *right* (its answer is the
label or one of the ``*_also`` labels, equally right), *wrong* (it names something else) or it
*missed* (it says unknown where the label does not). Precision is right / (right + wrong), recall is
right / (right + wrong + missed). A wrong name costs the reader more than a missing one, hence a
ceiling on wrong answers and only a floor under recall.

The label files are frozen: an entry is changed only if it is demonstrably mislabelled, and the
change is recorded in the file's ``corrections`` with its reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from laptime.kernels import decode
from laptime.kernels.names import UNKNOWN, KernelName

LABEL_FILES = ("labelled.json", "labelled_second.json")

MAX_WRONG = 0.01
"""Share of all names that may carry a wrong label."""
MIN_RECALL = 0.85

# Decoder's word (lower case, spaces and hyphens as underscores) -> label's word, where both name
# one and the same thing.
LIBRARY_SYNONYMS: Mapping[str, str] = {
    "cublaslt": "cublas",  # one library to the user; nvjet and xmma kernels serve both
    "ck_tile": "ck",
    "deepep": "deep_ep",
    "flashattention": "flash_attention",
    "jax/xla": "xla",
}
OPERATION_SYNONYMS: Mapping[str, str] = {
    "matmul": "gemm",
    "reduce_to_root": "reduce",  # NCCL's Reduce; the labels have one word for both
    # Words that say "one of several" and name no operation of the labels: counted as unknown, so
    # they are never right, and missed wherever the name does tell.
    "fused": UNKNOWN,
    "setup": UNKNOWN,
}


def canonical(said: str, synonyms: Mapping[str, str]) -> str:
    """The decoder's word in the spelling of the labels."""
    word = said.casefold().replace(" ", "_").replace("-", "_")
    return synonyms.get(word, word)


@dataclass(frozen=True)
class Label:
    """One labelled name; the sets hold every answer that is right."""

    name: str
    libraries: frozenset[str]
    operations: frozenset[str]
    dtype: str | None
    tensor_core: bool | None
    comm: bool


@dataclass
class Score:
    """Counts over all labelled names, and the wrong and missed ones in words."""

    right: int = 0
    agreed_unknown: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    @property
    def names(self) -> int:
        return self.right + self.agreed_unknown + len(self.wrong) + len(self.missed)

    @property
    def precision(self) -> float:
        return self.right / (self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return self.right / (self.right + len(self.wrong) + len(self.missed))


def document_of(file: str) -> dict[str, Any]:
    """A label file as it is written."""
    document: dict[str, Any] = json.loads(
        Path(__file__).with_name(file).read_text(encoding="utf-8")
    )
    return document


@cache
def labels(file: str) -> tuple[Label, ...]:
    """All entries of a label file, in its order."""
    document = document_of(file)
    return tuple(
        Label(
            name=entry["name"],
            libraries=frozenset([entry["library"], *entry.get("library_also", [])]),
            operations=frozenset([entry["operation"], *entry.get("operation_also", [])]),
            dtype=entry["dtype"],
            tensor_core=entry["tensor_core"],
            comm=entry["comm"],
        )
        for entry in document["labels"]
    )


def score(
    file: str,
    answer_of: Callable[[KernelName], str],
    accepted_of: Callable[[Label], frozenset[str]],
    synonyms: Mapping[str, str],
) -> Score:
    """Mark the decoder's answer to every name of a label file."""
    result = Score()
    for label in labels(file):
        said = answer_of(decode(label.name))
        answer = canonical(said, synonyms)
        accepted = accepted_of(label)
        line = f"{said!r}, not {'/'.join(sorted(accepted))}: {label.name[:120]}"
        if answer == UNKNOWN and UNKNOWN in accepted:
            result.agreed_unknown += 1
        elif answer == UNKNOWN:
            result.missed.append(line)
        elif answer in accepted:
            result.right += 1
        else:
            result.wrong.append(line)
    return result


def library_score(file: str) -> Score:
    return score(
        file, lambda kernel: kernel.library, lambda label: label.libraries, LIBRARY_SYNONYMS
    )


def operation_score(file: str) -> Score:
    return score(
        file, lambda kernel: kernel.operation, lambda label: label.operations, OPERATION_SYNONYMS
    )


each_file = pytest.mark.parametrize("file", LABEL_FILES)


@each_file
def test_the_label_file_is_what_it_claims_to_be(file: str) -> None:
    document = document_of(file)
    entries = document["labels"]
    sources = Counter(entry["source"] for entry in entries)
    assert len(entries) >= 300
    assert len({entry["name"] for entry in entries}) == len(entries)
    assert set(sources) == {"evidence file", "public log", "knowledge"}
    assert sources["evidence file"] * 3 <= len(entries)
    assert sum(entry["library"] == UNKNOWN for entry in entries) >= 15
    for correction in document["corrections"]:
        assert set(correction) == {"name", "field", "was", "is", "reason"}


def test_no_name_is_labelled_twice() -> None:
    first, second = ({label.name for label in labels(file)} for file in LABEL_FILES)
    assert first & second == set()


@each_file
@pytest.mark.parametrize("measure", [library_score, operation_score])
def test_wrong_labels_are_rare_and_most_names_are_read(
    measure: Callable[[str], Score], file: str
) -> None:
    result = measure(file)
    assert result.names == len(labels(file))
    assert len(result.wrong) <= MAX_WRONG * result.names, "\n".join(result.wrong)
    assert result.recall >= MIN_RECALL, "\n".join(result.missed)


@each_file
def test_communication_is_always_recognised_and_never_invented(file: str) -> None:
    astray = [label.name[:160] for label in labels(file) if decode(label.name).comm != label.comm]
    assert astray == []


@each_file
def test_dtype_and_tensor_core_never_contradict_a_plain_name(file: str) -> None:
    """None is an honest answer here; another type or the opposite is not."""
    astray = []
    for label in labels(file):
        kernel = decode(label.name)
        if label.dtype is not None and kernel.dtype not in (None, label.dtype):
            astray.append(f"dtype {kernel.dtype}, not {label.dtype}: {label.name[:120]}")
        if label.tensor_core is not None and kernel.tensor_core is (not label.tensor_core):
            astray.append(f"tensor_core {kernel.tensor_core}: {label.name[:120]}")
    assert len(astray) <= MAX_WRONG * len(labels(file)), "\n".join(astray)


def report() -> str:
    """The figures in words, for a person: ``python tests/kernels/test_labelled.py``."""
    lines = []
    for file, title, measure in (
        (file, title, measure)
        for file in LABEL_FILES
        for title, measure in (("library", library_score), ("operation", operation_score))
    ):
        result = measure(file)
        lines.append(
            f"{file}, {title}: {result.names} names, {result.right} right, "
            f"{len(result.wrong)} wrong, {len(result.missed)} missed, "
            f"{result.agreed_unknown} rightly unknown; "
            f"precision {result.precision:.4f}, recall {result.recall:.4f}"
        )
        lines += [f"  wrong: {line}" for line in result.wrong]
        lines += [f"  missed: {line}" for line in result.missed]
    return "\n".join(lines)


if __name__ == "__main__":
    print(report())
