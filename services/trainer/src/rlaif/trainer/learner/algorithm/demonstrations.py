"""Imitation of the demonstrations of a run's curriculum."""

import logging
from collections.abc import Mapping, Sequence
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from ray.rllib.core.columns import Columns

from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.curriculum.subtasks import subtasks_of_decisions
from rlaif.trainer.learner.algorithm.imitation import RETURNS, SUBTASKS, Rows
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.play.frontier import CurriculumFigures, SubtaskFigures
from rlaif.trainer.rewards.learned.shaping import Float32
from rlaif.trainer.settings.game import STEP_FRAMES, GameSettings
from rlaif.trainer.settings.learning import CurriculumSettings

logger = logging.getLogger(__name__)


class CurriculumLearning:
    """Sets the demonstrations that a learner imitates, by the progress of the curriculum."""

    def __init__(self, settings: CurriculumSettings) -> None:
        self._settings = settings
        self._by_runner: dict[int, CurriculumFigures] = {}
        self._names: frozenset[str] | None = None
        self.demonstrations: tuple[Demonstration, ...] = ()

    @property
    def figures(self) -> CurriculumFigures:
        return of_all_runners(list(self._by_runner.values()))

    def follow_demonstrations(
        self,
        learner_group: Any,
        play: GameSettings,
        *,
        path: Path | None = None,
        gamma: float,
        is_new: bool,
    ) -> float | None:
        """Let the learner imitate the demonstrations in a folder, or those of the settings.

        They are imitated during PPO. A new policy is first trained by imitation only; then its
        accuracy on the training rows is returned.

        Raises:
            DemonstrationsError: Demonstrations are missing or do not fit.
        """
        settings = self._settings
        path = path or settings.path
        if path is None:
            return None
        found = library.read(path, library.identity_of(play))
        self.demonstrations = tuple(each.without_rows() for each in found)
        self._names = frozenset(each.name for each in found)
        self._by_runner.clear()
        learned, tested = held_out(found, gamma=gamma)
        follow = methodcaller("follow", learned, augmentation=settings.strayed)
        learner_group.foreach_learner(follow)
        if not is_new or not settings.warm_start:
            return None
        call = methodcaller(
            "warm_up", learned, tested, steps=settings.warm_start, augmentation=settings.strayed
        )
        own, held = next(iter(learner_group.foreach_learner(call))).get()
        logger.info("warm start: accuracy %.3f, on the held-out demonstration %.3f", own, held)
        return float(own)

    def _is_followed(self, figures: CurriculumFigures) -> bool:
        names = {subtask.demonstration for subtask in figures.subtasks}
        return self._names is None or names <= self._names

    def update(self, learner_group: Any, fragments: Sequence[Fragment]) -> None:
        self._by_runner |= {
            each.runner: each.course
            for each in fragments
            # Until its next fragment, a runner may use earlier demonstrations.
            if each.course and self._is_followed(each.course)
        }
        imitated, weight = subtasks_to_imitate(self.figures.subtasks), self._settings.imitation
        learner_group.foreach_learner(methodcaller("imitate_subtasks", imitated, weight))


def returns_of(demonstration: Demonstration, *, gamma: float, end: float = 0.0) -> Float32:
    """Return the `[D + 1]` discounted returns; `end` is that of the last timestep.

    The reward after the end of a demonstration is unknown and assumed to be 0. `gamma` is the
    discount factor of four frames.
    """
    returns = np.empty(demonstration.length + 1, dtype=np.float64)
    returns[-1] = end
    discounts = gamma ** (demonstration.frames / STEP_FRAMES)
    for at in range(demonstration.length - 1, -1, -1):
        returns[at] = demonstration.rewards[at] + discounts[at] * returns[at + 1]
    narrow: Float32 = returns.astype(np.float32)
    return narrow


def rows_of(
    demonstrations: Sequence[Demonstration],
    subtasks: Mapping[str, npt.NDArray[np.int64]],
    *,
    gamma: float,
) -> Rows:
    """Return the rows to imitate, without duplicates of inputs and decision.

    `subtasks` contains the subtask of each decision (`subtasks_of_decisions`). The return at the
    last timestep of a noisy replay is that of its demonstration.
    """
    returns = {
        each.name: returns_of(each, gamma=gamma) for each in demonstrations if each.part_of is None
    }
    found: list[Rows] = []
    for each in demonstrations:
        own = returns.get(each.name)
        if own is None:
            assert each.part_of is not None
            name, at = each.part_of
            if name not in returns:
                continue
            own = returns_of(each, gamma=gamma, end=float(returns[name][at]))
        rows: Rows = {
            Columns.OBS: each.observations[:-1],
            POLICY_INPUTS: each.policy_inputs[:-1],
            Columns.ACTIONS: each.decisions,
            RETURNS: own[:-1],
            SUBTASKS: subtasks[each.name],
        }
        found.append(_at(rows, each.imitated))
    every = {name: np.concatenate([rows[name] for rows in found]) for name in found[0]}
    _, first = np.unique(_keys(every, Columns.ACTIONS), return_index=True)
    return _at(every, np.sort(first))


def held_out(demonstrations: Sequence[Demonstration], *, gamma: float) -> tuple[Rows, Rows]:
    """Return (training rows, test rows); the last demonstration is the test set.

    Trajectories of one tree share their beginning, so test rows whose inputs occur in the training
    set are removed. With fewer than two demonstrations the test set is empty.
    """
    subtasks = subtasks_of_decisions(demonstrations)
    names = [each.name for each in demonstrations if each.part_of is None]
    if len(names) < 2:
        every = rows_of(demonstrations, subtasks, gamma=gamma)
        return every, _at(every, np.empty(0, dtype=np.int64))
    last = names[-1]
    rest = [each for each in demonstrations if last not in (each.name, *(each.part_of or ()))]
    learned = rows_of(rest, subtasks, gamma=gamma)
    tested = rows_of([each for each in demonstrations if each.name == last], subtasks, gamma=gamma)
    return learned, _at(tested, ~np.isin(_keys(tested), _keys(learned)))


def _at(rows: Rows, index: npt.NDArray[Any]) -> Rows:
    return {name: column[index] for name, column in rows.items()}


def _keys(rows: Rows, *more: str) -> npt.NDArray[np.int64]:
    """Return keys that are equal for equal inputs, and `more` columns."""
    columns = [rows[name] for name in (Columns.OBS, POLICY_INPUTS, *more)]
    keys = [hash(tuple(value.tobytes() for value in row)) for row in zip(*columns, strict=True)]
    return np.array(keys, dtype=np.int64)


def subtasks_to_imitate(subtasks: Sequence[SubtaskFigures]) -> list[int] | None:
    """Return the subtasks that are still imitated, which are those not mastered; None: all.

    Parts that the frontier has not reached are not played, and PPO on other parts unlearns them.
    On mastered subtasks the policy is better than the demonstration. None before any report.
    """
    if not subtasks:
        return None
    return [number for number, subtask in enumerate(subtasks) if not subtask.is_mastered]


def of_all_runners(runners: Sequence[CurriculumFigures]) -> CurriculumFigures:
    """Merge the statistics of all runners, each of which has its own frontiers.

    A subtask is mastered if all runners have mastered it. Its frontier is the runners' median; of
    two, the one nearer to the goal. End-to-end episodes are concatenated.
    """
    subtasks = zip(*[runner.subtasks for runner in runners], strict=True)
    return CurriculumFigures(
        tuple(map(_merged, subtasks)), tuple(each for runner in runners for each in runner.whole)
    )


def _merged(subtasks: Sequence[SubtaskFigures]) -> SubtaskFigures:
    return subtasks[0]._replace(
        at=sorted(subtask.at for subtask in subtasks)[len(subtasks) // 2],
        is_mastered=all(subtask.is_mastered for subtask in subtasks),
        tries=sum(subtask.tries for subtask in subtasks),
        success=_mean([subtask.success for subtask in subtasks]),
        success_anywhere=_mean([subtask.success_anywhere for subtask in subtasks]),
    )


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if known else None
