"""A page that applies what it is told has what the HUD has."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json, to_json

from rlaif.hud.browsers.deltas import ChangeError, applied, difference

NAMES = st.sampled_from(["name", "version", "a", "b", "__proto__"])
VALUES = st.recursive(
    st.none() | st.integers(0, 3) | st.sampled_from(["", "x", "y"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, VALUES)
def test_the_change_from_any_value_to_any_other_leads_there(old: Any, new: Any) -> None:
    change = difference(old, new)
    if change is None:
        assert old == new
        return
    sent = from_json(to_json(change))
    assert to_json(applied(old, sent)) == to_json(new), "members keep their order, too"


def rows(*numbers: int, text: str = "many words of a judge") -> list[dict[str, Any]]:
    return [{"segment_id": f"segment-{n}", "score": n / 7, "text": text} for n in numbers]


def test_a_new_first_row_is_sent_alone() -> None:
    change = difference(rows(3, 2, 1), rows(4, 3, 2))
    assert change == {"l": [{"v": rows(4)}, [0, 2]]}


def test_of_a_row_that_changed_the_field_alone_is_sent() -> None:
    new = rows(3, 2, 1)
    new[1] = new[1] | {"score": 0.5}
    row = {"i": 1, "c": {"o": {"score": {"v": 0.5}}}}
    assert difference(rows(3, 2, 1), new) == {"l": [[0, 1], row, [2, 1]]}


def test_points_that_came_are_added_to_a_curve() -> None:
    curve = [[1000 * n, n / 3] for n in range(300)]
    longer = [*curve, [300_000, 5.5]]
    assert difference(curve, longer) == {"l": [[0, 300], {"v": [[300_000, 5.5]]}]}


def test_a_list_that_has_nothing_of_the_one_before_is_sent_whole() -> None:
    assert difference([1, 2, 3], [4, 5]) == {"v": [4, 5]}


@pytest.mark.parametrize(
    ("value", "change"),
    [
        ({"a": 1}, {"l": [[0, 1]]}),
        ([1], {"o": {"a": {"v": 1}}}),
        ([1, 2], {"l": [[1, 2]]}),
        ([1], {"l": [{"i": 1, "c": {"v": 2}}]}),
    ],
    ids=["no list", "no object", "too many elements", "no such element"],
)
def test_a_change_of_another_value_is_noticed(value: Any, change: Any) -> None:
    with pytest.raises(ChangeError):
        applied(value, change)
