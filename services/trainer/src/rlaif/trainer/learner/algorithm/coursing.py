"""The curriculum of a run: to its runners where episodes start, to its learner what is imitated."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from ray.rllib.core.columns import Columns

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.building import identity_of
from rlaif.trainer.curriculum.course import Course
from rlaif.trainer.curriculum.demonstrations import Demonstration, of_one_order
from rlaif.trainer.curriculum.examples import Examples, held_out
from rlaif.trainer.learner.algorithm.demonstrated import RETURNS, SUBTASKS
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS
from rlaif.trainer.play.frontier import CurriculumFigures, SubtaskFigures
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.search.marks import marks_of
from rlaif.trainer.settings.game import GameSettings
from rlaif.trainer.settings.learning import CurriculumSettings

Rows = dict[str, npt.NDArray[Any]]
"""Columns of a batch, and the returns."""


def course_of(settings: CurriculumSettings, play: GameSettings, game: GameEnv) -> Course:
    """The curriculum of a runner that plays `game` and others like it.

    Raises:
        DemonstrationsError: There are no demonstrations, or they do not fit.
    """
    assert settings.path is not None
    identity = identity_of(game.cartridge, game.emulator, play.actions)
    found = of_one_order(library.read(settings.path, identity))
    return Course(found, settings, marks_of)


def demonstrations_of(settings: CurriculumSettings, play: GameSettings) -> Sequence[Demonstration]:
    """The demonstrations of a run that go one way; starts an emulator for a moment.

    Raises:
        DemonstrationsError: There are none, or they do not fit.
    """
    assert settings.path is not None
    cartridge = load_cartridge(play.rom_path)
    emulator = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    try:
        identity = identity_of(cartridge, emulator, play.actions)
    finally:
        emulator.close()
    return of_one_order(library.read(settings.path, identity))


@dataclass(frozen=True)
class Imitated:
    """What a learner imitates.

    Attributes:
        rows: To learn from.
        tested: Of a demonstration that is kept apart, to test on.
    """

    rows: Rows
    tested: Rows

    @classmethod
    def of(cls, demonstrations: Sequence[Demonstration], *, gamma: float) -> "Imitated":
        learned, tested = held_out(demonstrations, gamma=gamma)
        return cls(_rows(learned), _rows(tested))


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
    told = [runner.subtasks for runner in runners]
    return CurriculumFigures(
        tuple(_together(subtasks) for subtasks in zip(*told, strict=True)),
        tuple(each for runner in runners for each in runner.whole),
    )


def _together(subtasks: Sequence[SubtaskFigures]) -> SubtaskFigures:
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
