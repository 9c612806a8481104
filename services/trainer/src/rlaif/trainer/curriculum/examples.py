"""What is imitated: demonstrations in, rows of what was seen, decided and paid afterwards out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlaif.trainer.curriculum.demonstrations import Demonstration, Float32
from rlaif.trainer.curriculum.route import legs_of_decisions

BASE_FRAMES = 4
"""The discount is one of so many game frames."""


@dataclass(frozen=True, eq=False)
class Examples:
    """R decisions of demonstrations.

    Attributes:
        observations: `[R, 128] float32`.
        policy_inputs: `[R, SIZE] float32`.
        decisions: `[R] int64`.
        returns: `[R] float32`, the discounted sum of what the game paid from there to the end.
        legs: `[R] int64`, to which leg of a route each leads; -1 to none.
    """

    observations: Float32
    policy_inputs: Float32
    decisions: npt.NDArray[np.int64]
    returns: Float32
    legs: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.decisions)

    def at(self, rows: npt.NDArray[np.bool_]) -> "Examples":
        """Some of the rows."""
        return Examples(
            self.observations[rows],
            self.policy_inputs[rows],
            self.decisions[rows],
            self.returns[rows],
            self.legs[rows],
        )


def returns_of(demonstration: Demonstration, *, gamma: float, end: float = 0.0) -> Float32:
    """`[D + 1]` discounted returns at each moment; `end` is that of the last one.

    What the game would have paid after the end of a demonstration nobody knows; it counts as 0.
    `gamma` is the discount of four frames.
    """
    returns = np.empty(demonstration.length + 1, dtype=np.float64)
    returns[-1] = end
    discounts = gamma ** (demonstration.frames / BASE_FRAMES)
    for at in range(demonstration.length - 1, -1, -1):
        returns[at] = demonstration.rewards[at] + discounts[at] * returns[at + 1]
    narrow: Float32 = returns.astype(np.float32)
    return narrow


def examples(demonstrations: Sequence[Demonstration], *, gamma: float) -> Examples:
    """All rows that are to be imitated, each state and decision once.

    A part with noise goes on as the demonstration did that it is a part of.
    """
    legs = legs_of_decisions(demonstrations)
    return _examples(demonstrations, legs, gamma)


def _examples(
    demonstrations: Sequence[Demonstration],
    legs: Mapping[str, npt.NDArray[np.int64]],
    gamma: float,
) -> Examples:
    whole = {each.name: each for each in demonstrations if each.part_of is None}
    returns = {name: returns_of(each, gamma=gamma) for name, each in whole.items()}
    found: list[Examples] = []
    for each in demonstrations:
        own = returns.get(each.name)
        if each.part_of is not None:
            name, at = each.part_of
            if name not in returns:
                continue
            own = returns_of(each, gamma=gamma, end=float(returns[name][at]))
        assert own is not None
        rows = Examples(
            each.observations[:-1],
            each.policy_inputs[:-1],
            each.decisions,
            own[:-1],
            legs[each.name],
        )
        found.append(rows.at(each.imitated))
    every = _together(found)
    _, first = np.unique(_keys(every, with_decision=True), return_index=True)
    once = np.zeros(len(every), dtype=np.bool_)
    once[first] = True
    return every.at(once)


def held_out(demonstrations: Sequence[Demonstration], *, gamma: float) -> tuple[Examples, Examples]:
    """(rows to learn from, rows to test on): the last demonstration is kept for the test.

    Ways out of one tree begin alike. So of the last one only what no other demonstration has seen
    is tested. With fewer than two demonstrations there is nothing to test on.
    """
    names = [each.name for each in demonstrations if each.part_of is None]
    if len(names) < 2:
        every = examples(demonstrations, gamma=gamma)
        return every, every.at(np.zeros(len(every), dtype=np.bool_))
    last = names[-1]
    rest = [each for each in demonstrations if last not in (each.name, *(each.part_of or ()))]
    legs = legs_of_decisions(demonstrations)
    tested = _examples([each for each in demonstrations if each.name == last], legs, gamma)
    learned = _examples(rest, legs, gamma)
    known = set(_keys(learned, with_decision=False).tolist())
    new = [key not in known for key in _keys(tested, with_decision=False).tolist()]
    return learned, tested.at(np.array(new, dtype=np.bool_))


def _together(parts: Iterable[Examples]) -> Examples:
    every = list(parts)
    return Examples(
        np.concatenate([each.observations for each in every]),
        np.concatenate([each.policy_inputs for each in every]),
        np.concatenate([each.decisions for each in every]),
        np.concatenate([each.returns for each in every]),
        np.concatenate([each.legs for each in every]),
    )


def _keys(rows: Examples, *, with_decision: bool) -> npt.NDArray[np.int64]:
    """Equal for rows in which a policy sees the same, and, if asked, decided the same."""
    keys = [
        hash((seen.tobytes(), own.tobytes(), decision if with_decision else -1))
        for seen, own, decision in zip(
            rows.observations, rows.policy_inputs, rows.decisions.tolist(), strict=True
        )
    ]
    return np.array(keys, dtype=np.int64)
