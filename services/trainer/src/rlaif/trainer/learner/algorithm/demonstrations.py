"""The demonstrations of a run's curriculum, for its learner."""

import logging
from collections.abc import Sequence
from operator import methodcaller
from typing import Any

import numpy as np
from ray.rllib.core.columns import Columns

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import new_emulator
from rlaif.trainer.curriculum.examples import Examples, held_out
from rlaif.trainer.learner.algorithm.imitation import RETURNS, SUBTASKS, Rows
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS
from rlaif.trainer.learner.runners.runner import demonstrations_of
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.play.frontier import CurriculumFigures, SubtaskFigures
from rlaif.trainer.settings.game import GameSettings
from rlaif.trainer.settings.learning import CurriculumSettings

log = logging.getLogger(__name__)


class CurriculumLearning:
    """What a learner does along the run's curriculum: imitation, and a minimum of entropy."""

    def __init__(self, settings: CurriculumSettings) -> None:
        self._settings = settings
        self._by_runner: dict[int, CurriculumFigures] = {}

    @property
    def figures(self) -> CurriculumFigures:
        return of_all_runners(list(self._by_runner.values()))

    def follow_demonstrations(
        self, learner_group: Any, play: GameSettings, *, gamma: float, is_new: bool
    ) -> float | None:
        """Let the learner imitate the demonstrations beside PPO.

        A new policy first imitates them alone; returns its accuracy on the training rows then.

        Raises:
            DemonstrationsError: There are none, or they do not fit.
        """
        settings, cartridge = self._settings, load_cartridge(play.rom_path)
        emulator = new_emulator(cartridge)
        try:
            found = demonstrations_of(settings, play, cartridge, emulator)
        finally:
            emulator.close()
        learned, tested = map(_rows, held_out(found, gamma=gamma))
        follow = methodcaller("follow", learned, augmentation=settings.strayed)
        learner_group.foreach_learner(follow)
        if not is_new or not settings.warm_start:
            return None
        call = methodcaller(
            "warm_up", learned, tested, steps=settings.warm_start, augmentation=settings.strayed
        )
        own, held = next(iter(learner_group.foreach_learner(call))).get()
        log.info("warm start: accuracy %.3f, on the held-out demonstration %.3f", own, held)
        return float(own)

    def update(self, learner_group: Any, fragments: Sequence[Fragment]) -> None:
        self._by_runner |= {each.runner: each.course for each in fragments if each.course}
        subtasks = self.figures.subtasks
        imitated, weight = subtasks_to_imitate(subtasks), self._settings.imitation
        learner_group.foreach_learner(methodcaller("imitate_subtasks", imitated, weight))
        floor = entropy_floor(self._settings, subtasks)
        learner_group.foreach_learner(methodcaller("hold_entropy", floor))


def _rows(examples: Examples) -> Rows:
    return {
        Columns.OBS: examples.observations,
        POLICY_INPUTS: examples.policy_inputs,
        Columns.ACTIONS: examples.decisions,
        RETURNS: examples.returns,
        SUBTASKS: examples.subtasks,
    }


def subtasks_to_imitate(subtasks: Sequence[SubtaskFigures]) -> list[int] | None:
    """Return the subtasks that are still imitated: those that are not mastered.

    A part that the frontier has not reached is not played, and PPO on the rest unlearns it. On the
    part behind it the policy is better than the demonstration. None before any report: all.
    """
    if not subtasks:
        return None
    return [number for number, subtask in enumerate(subtasks) if not subtask.is_mastered]


def entropy_floor(settings: CurriculumSettings, subtasks: Sequence[SubtaskFigures]) -> float:
    """Return the minimum weight of the entropy bonus."""
    if not subtasks:
        return settings.entropy
    return settings.entropy * (
        1.0 - sum(subtask.is_mastered for subtask in subtasks) / len(subtasks)
    )


def of_all_runners(runners: Sequence[CurriculumFigures]) -> CurriculumFigures:
    """Merge the statistics of all runners, which have frontiers of their own.

    A subtask is mastered if all runners have mastered it. Its place is the runners' median, of two
    the one nearer to the goal. End-to-end episodes are concatenated.
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
