"""Builds the `Assistance` of a runner from the settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

from rlaif.contracts.planning.plans import Macro
from rlaif.game.description.briefing import brief
from rlaif.game.description.words import words_of
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills.macros import PlanExecutor
from rlaif.game.skills.script import OptionLimits
from rlaif.trainer.planning.planner import open_planner
from rlaif.trainer.play.assist.assistance import Assistance
from rlaif.trainer.play.assist.guidance import Guidance, guidance_stream
from rlaif.trainer.play.assist.takeover import AssistanceParts
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.planner_port import Planner
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.planner import GuidanceSettings, PlannerSettings, TakeoverSettings


@dataclass(frozen=True)
class AssistConfig:
    """What a runner makes its assistance of; travels to the runner processes."""

    planner: PlannerSettings
    takeover: TakeoverSettings
    guidance: GuidanceSettings

    @classmethod
    def of(cls, settings: TrainerSettings) -> Self | None:
        """That of a run; None without a planner's address."""
        if not settings.planner.is_on:
            return None
        return cls(settings.planner, settings.takeover, settings.guidance)


def assistance_of(
    config: AssistConfig | None, env: EnvConfig, games: Sequence[GameEnv], *, runner: int, seed: int
) -> Assistance | None:
    """The assistance of runner number `runner` of a run with this seed; None for none.

    Opens nothing: the planner connects with its first question.
    """
    planner = None if config is None else open_planner(config.planner)
    if config is None or planner is None:
        return None
    return assisted_by(planner, config, env, games, runner=runner, seed=seed)


def assisted_by(
    planner: Planner,
    config: AssistConfig,
    env: EnvConfig,
    games: Sequence[GameEnv],
    *,
    runner: int,
    seed: int,
) -> Assistance:
    """Likewise, by this planner."""
    cartridge = games[0].cartridge
    words = words_of(cartridge.game, cartridge.data)
    limits = OptionLimits().scaled(env.game.frame_skip)

    def executor_of(macros: tuple[Macro, ...], graph: RoomGraph) -> PlanExecutor:
        return PlanExecutor(macros, graph=graph, limits=limits)

    guide = partial(
        _guidance,
        config.guidance,
        [seed, runner, env.attempt, *([env.life] if env.life else [])],
        runner,
    )
    return Assistance(
        AssistanceParts(
            planner=planner,
            takeover=config.takeover,
            brief=lambda ram, graph, failed: brief(ram, words, graph=graph, failed=failed),
            executor_of=executor_of,
            guide=guide if config.guidance.asks else None,
        ),
        games,
        runner=runner,
    )


def _guidance(
    settings: GuidanceSettings,
    drawn_from: Sequence[int],
    runner: int,
    count: int,
    planner: Planner,
) -> Guidance:
    rng = guidance_stream(drawn_from)
    return Guidance(settings, count=count, rng=rng, planner=planner, runner=runner)
