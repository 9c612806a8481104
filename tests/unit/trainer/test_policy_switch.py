"""The policy switch: a mode counts when some looks in a row agree, and not before."""

from collections.abc import Sequence
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from rlaif.contracts.plans import Mode
from rlaif.trainer.play.takeover.switch import PolicySwitch

MODES = st.sampled_from([None, "dialog", "puzzle"])
LOOKS = st.lists(MODES, max_size=60)


def after(seen: Sequence[Mode | None], looks: int) -> list[Mode | None]:
    switch = PolicySwitch(looks)
    return [switch.look(mode) for mode in seen]


NOTHING: list[Mode | None] = [None]
DIALOG: list[Mode | None] = ["dialog"]
PUZZLE: list[Mode | None] = ["puzzle"]


def test_the_third_look_counts():
    assert after(DIALOG * 4, 3) == [None, None, "dialog", "dialog"]
    assert after(DIALOG * 3 + NOTHING * 3, 3)[2:] == ["dialog", "dialog", "dialog", None]


def test_a_flicker_changes_nothing():
    assert after((PUZZLE * 2 + NOTHING) * 5, 3) == [None] * 15
    off = NOTHING + PUZZLE + NOTHING * 2 + PUZZLE
    assert after(PUZZLE * 3 + off, 3)[2:] == ["puzzle"] * 6


def test_from_one_mode_to_another_it_takes_as_many_looks():
    assert after(DIALOG * 3 + PUZZLE * 3, 3)[-3:] == ["dialog", "dialog", "puzzle"]


def test_another_episode_begins_with_plain_play():
    switch = PolicySwitch(3)
    for _ in range(3):
        switch.look("dialog")
    switch.reset()
    assert [switch.look("dialog") for _ in range(3)] == [None, None, "dialog"]


@given(LOOKS, st.integers(1, 5))
def test_a_mode_counts_exactly_when_the_last_looks_agree_on_it(seen: list[Mode | None], looks: int):
    """Between such moments nothing changes."""
    mode: Mode | None = None
    for told, end in zip(after(seen, looks), range(1, len(seen) + 1), strict=True):
        last = seen[max(0, end - looks) : end]
        if len(last) == looks and len(set(last)) == 1:
            mode = last[0]
        assert told == mode


@given(LOOKS, st.integers(1, 5))
def test_the_mode_changes_no_more_often_than_looks_allow(seen: list[Mode | None], looks: int):
    modes = after(seen, looks)
    changes = len(list(groupby([None, *modes]))) - 1
    assert changes <= len(seen) // looks
