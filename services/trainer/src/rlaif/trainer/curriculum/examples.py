"""Converts demonstrations to samples for imitation: observations, decisions and returns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlaif.trainer.curriculum.demonstrations import Demonstration, Float32
from rlaif.trainer.curriculum.route import subtasks_of_decisions

BASE_FRAMES = 4
"""Number of game frames to which the discount factor refers."""


@dataclass(frozen=True, eq=False)
class Examples:
    """R samples of demonstrations.

    Attributes:
        observations: `[R, 128] float32`.
        policy_inputs: `[R, SIZE] float32`.
        decisions: `[R] int64`.
        returns: `[R] float32`, discounted game reward until the end of the demonstration.
        subtasks: `[R] int64`, index of the subtask in the route; -1 for none.
    """

    observations: Float32
    policy_inputs: Float32
    decisions: npt.NDArray[np.int64]
    returns: Float32
    subtasks: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.decisions)

    def at(self, rows: npt.NDArray[np.bool_]) -> "Examples":
        """Select rows by a mask."""
        return Examples(
            self.observations[rows],
            self.policy_inputs[rows],
            self.decisions[rows],
            self.returns[rows],
            self.subtasks[rows],
        )


def returns_of(demonstration: Demonstration, *, gamma: float, end: float = 0.0) -> Float32:
    """Return the `[D + 1]` discounted returns; `end` is that of the last timestep.

    The reward after the end of a demonstration is unknown and counts as 0. `gamma` is the discount
    factor of four frames.
    """
    returns = np.empty(demonstration.length + 1, dtype=np.float64)
    returns[-1] = end
    discounts = gamma ** (demonstration.frames / BASE_FRAMES)
    for at in range(demonstration.length - 1, -1, -1):
        returns[at] = demonstration.rewards[at] + discounts[at] * returns[at + 1]
    narrow: Float32 = returns.astype(np.float32)
    return narrow


def examples(demonstrations: Sequence[Demonstration], *, gamma: float) -> Examples:
    """Return all rows to imitate, without duplicates of state and decision.

    A noisy replay has the returns of its demonstration from its last timestep on.
    """
    subtasks = subtasks_of_decisions(demonstrations)
    return _examples(demonstrations, subtasks, gamma)


def _examples(
    demonstrations: Sequence[Demonstration],
    subtasks: Mapping[str, npt.NDArray[np.int64]],
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
            subtasks[each.name],
        )
        found.append(rows.at(each.imitated))
    every = _together(found)
    _, first = np.unique(_keys(every, with_decision=True), return_index=True)
    once = np.zeros(len(every), dtype=np.bool_)
    once[first] = True
    return every.at(once)


def held_out(demonstrations: Sequence[Demonstration], *, gamma: float) -> tuple[Examples, Examples]:
    """Return (training rows, test rows); the last demonstration is the test set.

    Trajectories of one tree share their beginning, so test rows that occur in the training set are
    removed. With fewer than two demonstrations the test set is empty.
    """
    names = [each.name for each in demonstrations if each.part_of is None]
    if len(names) < 2:
        every = examples(demonstrations, gamma=gamma)
        return every, every.at(np.zeros(len(every), dtype=np.bool_))
    last = names[-1]
    rest = [each for each in demonstrations if last not in (each.name, *(each.part_of or ()))]
    subtasks = subtasks_of_decisions(demonstrations)
    tested = _examples([each for each in demonstrations if each.name == last], subtasks, gamma)
    learned = _examples(rest, subtasks, gamma)
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
        np.concatenate([each.subtasks for each in every]),
    )


def _keys(rows: Examples, *, with_decision: bool) -> npt.NDArray[np.int64]:
    """Return keys that are equal for equal inputs and, if `with_decision`, equal decisions."""
    keys = [
        hash((seen.tobytes(), own.tobytes(), decision if with_decision else -1))
        for seen, own, decision in zip(
            rows.observations, rows.policy_inputs, rows.decisions.tolist(), strict=True
        )
    ]
    return np.array(keys, dtype=np.int64)
