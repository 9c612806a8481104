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
from rlaif.trainer.curriculum.agreement import of_one_order
from rlaif.trainer.curriculum.building import identity_of
from rlaif.trainer.curriculum.course import Course
from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.curriculum.examples import Examples, held_out
from rlaif.trainer.learner.algorithm.demonstrated import LEGS, RETURNS
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS
from rlaif.trainer.play.frontier import CourseFigures, LegFigures
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.search.marks import marks_of
from rlaif.trainer.settings.curriculum import CurriculumSettings
from rlaif.trainer.settings.game import GameSettings

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
        LEGS: examples.legs,
    }


def legs_to_imitate(legs: Sequence[LegFigures]) -> list[int] | None:
    """Numbers of the segments that are still imitated: until play succeeds from their beginning.

    What a frontier has not come to yet is not played, and PPO on the rest unlearns it. What it has
    passed the policy does better than the demonstration. None before any report: all of them.
    """
    if not legs:
        return None
    return [number for number, leg in enumerate(legs) if not leg.is_home]


def entropy_floor(settings: CurriculumSettings, legs: Sequence[LegFigures]) -> float:
    """Least weight of the entropy bonus as the segments stand."""
    if not legs:
        return settings.entropy
    return settings.entropy * (1.0 - sum(leg.is_home for leg in legs) / len(legs))


def of_all_runners(runners: Sequence[CourseFigures]) -> CourseFigures:
    """The segments as they stand on average: each runner has frontiers of its own.

    A segment is mastered where it is with all runners. Its place is the median of the runners,
    of two the one nearer to the goal. Episodes of the whole way are all runners' together.
    """
    told = [runner.legs for runner in runners]
    return CourseFigures(
        tuple(_together(legs) for legs in zip(*told, strict=True)),
        tuple(each for runner in runners for each in runner.whole),
    )


def _together(legs: Sequence[LegFigures]) -> LegFigures:
    return legs[0]._replace(
        at=sorted(leg.at for leg in legs)[len(legs) // 2],
        is_home=all(leg.is_home for leg in legs),
        tries=sum(leg.tries for leg in legs),
        success=_mean([leg.success for leg in legs]),
        success_anywhere=_mean([leg.success_anywhere for leg in legs]),
    )


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if known else None
