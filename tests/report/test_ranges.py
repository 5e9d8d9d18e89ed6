from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.report.numbers import duration
from laptime.report.ranges import over, phrase, variants


def test_a_median_is_a_value_that_was_seen() -> None:
    assert over([]) is None
    found = over([4.0, 1.0, 3.0, 2.0])
    assert found is not None
    assert (found.least, found.median, found.most, found.number) == (1.0, 2.0, 4.0, 4)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([5e6], "5.00 ms"),
        ([5e6, 5e6 + 1], "5.00 ms"),
        ([900e3, 1.1e6], "900 us to 1.10 ms"),
        ([1e6, 2e6, 9e6], "1.00 ms to 9.00 ms, median 2.00 ms"),
    ],
)
def test_ranges_as_phrases(values: list[float], said: str) -> None:
    found = over(values)
    assert found is not None
    assert phrase(found, duration) == said


def test_figures_of_alike_texts_become_ranges() -> None:
    said = [
        (0, "fp32 takes 1.1 % of gpu0, below 5.0 %, of 1,200 copies (8 tiny), 10-20 us"),
        (1, "fp32 takes 10.2 % of gpu0, below 5.0 %, of 900 copies (8 tiny), 10-20 us"),
        (2, "fp32 takes 0.9 % of gpu0, below 5.0 %, of 1,000 copies (9 tiny), 10-20 us"),
    ]
    assert variants(said) == [
        (
            [0, 1, 2],
            "fp32 takes 0.9 to 10.2 % of gpu0, below 5.0 %, of 900 to 1,200 copies (8 to 9 tiny), "
            "10-20 us",
        )
    ]


def test_other_units_and_words_are_other_texts() -> None:
    said = [(0, "takes 900 us"), (1, "takes 1.10 ms"), (2, "takes 1.30 ms"), (3, "takes none")]
    assert variants(said) == [
        ([0], "takes 900 us"),
        ([1, 2], "takes 1.10 to 1.30 ms"),
        ([3], "takes none"),
    ]


@pytest.mark.parametrize("name", ["gpu1", "v1.2.3", "a-1", "1e5", "rank=3", "1/2", "x_4", "#7"])
def test_digits_of_names_are_no_figures(name: str) -> None:
    other = re.sub(r"\d", "8", name)
    assert variants([(0, f"on {name} it is"), (1, f"on {other} it is")]) == [
        ([0], f"on {name} it is"),
        ([1], f"on {other} it is"),
    ]


@given(st.lists(st.text(alphabet="a1 .,%-", max_size=12), max_size=6))
def test_every_text_is_in_one_variant_and_alone_stays_as_it_is(texts: list[str]) -> None:
    found = variants(list(enumerate(texts)))
    assert sorted(i for members, _ in found for i in members) == list(range(len(texts)))
    for members, text in found:
        if len({texts[i] for i in members}) == 1:
            assert text == texts[members[0]]
