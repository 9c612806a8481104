"""Ratings of groups of cells by a judge."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rlaif.game.memory.blocks import RamBlocks
from rlaif.trainer.search.draws import Draws, DrawSettings
from rlaif.trainer.search.ratings import MAX_STATES, PATIENCE, Ratings, pack_ram
from rlaif.trainer.search.tree import Tree

BLADE = frozenset({"treasure:5"})
BY_RATING = DrawSettings(shares={"uniform": 0.5, "rated": 0.5})


def ram(number: int) -> RamBlocks:
    return RamBlocks(bytes((number,)) * 0x2000)


class Answering:
    """A judge to whom the first byte of a state is its position; 0 is unknown to it."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.is_busy = self.fails = False

    def ask(self, states: Sequence[RamBlocks]) -> None:
        self.asked.append([state.wram[0] for state in states])

    def answers(self) -> list[float | None] | None:
        if self.is_busy:
            return None
        return [] if self.fails else [float(number) or None for number in self.asked[-1]]


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    with closing(Tree(tmp_path / "tree.sqlite", {"rom_sha256": "0"})) as tree:
        yield tree


def with_groups(tree: Tree, numbers: Sequence[int], rater: Answering) -> tuple[Ratings, Draws]:
    draws = Draws(BY_RATING)
    ratings = Ratings(tree, draws, rater)
    for number in numbers:
        cell = b"%d" % number
        draws.add(cell, BLADE, room=number, place=cell)
        ratings.add(BLADE, number, pack_ram(ram(number)), frames=0)
    return ratings, draws


def rule_shares(draws: Draws, times: int = 400) -> list[str]:
    rng = np.random.default_rng(0)
    return [rule for _, rule in (draws.draw(rng) for _ in range(times))]


def test_a_full_request_is_made_at_once_and_the_rest_waits(tree: Tree):
    rater = Answering()
    ratings, _ = with_groups(tree, range(1, 12), rater)
    ratings.consult(0)
    ratings.consult(PATIENCE - 1)
    assert rater.asked == [list(range(1, 1 + MAX_STATES))]
    ratings.consult(PATIENCE)
    assert rater.asked[1:] == [[9, 10, 11]]
    assert ratings.requests == 2


def test_only_one_request_is_open_at_a_time(tree: Tree):
    rater = Answering()
    ratings, draws = with_groups(tree, range(1, 18), rater)
    rater.is_busy = True
    for _ in range(5):
        ratings.consult(PATIENCE)
    assert len(rater.asked) == 1
    assert "rated" not in rule_shares(draws)
    rater.is_busy = False
    ratings.consult(PATIENCE)
    assert len(rater.asked) == 2
    assert "rated" in rule_shares(draws)


def test_a_group_is_rated_once_also_after_a_restart(tree: Tree):
    rater = Answering()
    ratings, _ = with_groups(tree, [0, 3], rater)  # of 0 it knows nothing
    ratings.consult(PATIENCE)
    ratings.consult(PATIENCE)
    again = Answering()
    ratings, draws = with_groups(tree, [0, 3], again)
    ratings.consult(2 * PATIENCE)
    assert again.asked == []
    assert "rated" in rule_shares(draws)
    assert [group.rating for group in tree.groups()] == [None, 3.0]


def test_a_group_without_an_answer_is_asked_again_after_a_restart(tree: Tree):
    rater = Answering()
    rater.is_busy = True
    ratings, _ = with_groups(tree, [5], rater)
    ratings.consult(PATIENCE)
    again = Answering()
    Ratings(tree, Draws(BY_RATING), again).consult(PATIENCE)
    assert again.asked == [[5]]


def test_the_groups_of_a_failed_request_are_asked_for_again(tree: Tree):
    rater = Answering()
    rater.fails = True
    ratings, _ = with_groups(tree, [5, 6], rater)
    for frames in (PATIENCE, PATIENCE + 1, 2 * PATIENCE, 2 * PATIENCE + 1):
        ratings.consult(frames)
    assert rater.asked == [[5, 6], [5, 6]]
    rater.fails = False
    ratings.consult(3 * PATIENCE)
    ratings.consult(4 * PATIENCE)
    assert [group.rating for group in tree.groups()] == [5.0, 6.0]
