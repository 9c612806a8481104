"""Planner control on the real cartridge: isolation of other environments, exact records."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import MoveTo, Plan
from rlaif.game.machine.actions import Action
from rlaif.testing.planner.scripted_planner import ScriptedPlanner
from rlaif.trainer.play.assist.assistance import Assistance
from rlaif.trainer.play.assist.takeover import AssistanceParts
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.play.start import StartSet
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.settings.game import CaptureSettings, GameSettings
from rlaif.trainer.settings.planner import TakeoverSettings

STEPS = 400
CONFIG = EnvConfig(
    run_id="t",
    game=GameSettings(actions="seed", episode_length=150, noop_start=4, walk_start=4),
    capture=CaptureSettings(keyframe_steps=60),
)
OFTEN = TakeoverSettings(share=0.5, max_steps=40, rest_steps=5)
PLAN = Plan(reason="", macros=(MoveTo(column=1, row=1),), confidence=1.0)


class Wanderer:
    """Walks to and fro for 30 steps, as no policy below does."""

    def __init__(self) -> None:
        self.finished: list[Any] = []
        self._steps = 0

    def next(self, ram: object) -> Any:
        self._steps += 1
        over = self._steps > 30
        walk = (Action.LEFT, Action.UP, Action.RIGHT)[self._steps // 10 % 3]
        status = "done" if over else "running"
        return SimpleNamespace(over=over, status=status, action=walk, cause=None, reason="")


def assisted(script: Callable[[Any], Any], **planner: Any) -> Callable[..., Assistance]:
    """Makes an assistance whose planner answers by a script, by default immediately."""

    def make(games: Any) -> Assistance:
        parts = AssistanceParts(
            ScriptedPlanner(script, **{"at_once": True} | planner),
            OFTEN,
            brief=lambda ram, graph, failed: Briefing(failed=tuple(failed)),
            executor_of=lambda macros, graph: Wanderer(),  # type: ignore[arg-type,return-value]  # it has what is used
        )
        return Assistance(parts, games, runner=1)

    return make


def play(
    count: int,
    starts: StartSet,
    assist: Callable[..., Assistance] | None,
    *,
    seed: int = 0,
    quota: int = 0,
) -> tuple[Fragment, list[str], dict[str, Any]]:
    """A fragment of a policy that presses what a seed says; its games' digests and saved state."""
    vector = EmulatorVector(CONFIG, count=count, runner=1, seed=seed, starts=starts, assist=assist)
    vector.begin_fragment(STEPS, capture_quota=quota, context=CaptureContext())
    actions = np.stack(
        [np.random.default_rng([seed, n]).integers(0, 8, STEPS) for n in range(count)], axis=1
    )
    for t in range(STEPS):
        vector.step(t, actions[t - t % 3])
    shape = (STEPS, count)
    fragment = vector.end_fragment(np.zeros((*shape, 8), np.float32), np.zeros(shape, np.float32))
    digests, saved = [game.emulator.ram_digest() for game in vector.games], vector.state_dict()
    vector.close()
    return fragment, digests, saved


def column(fragment: Fragment, n: int) -> bytes:
    """All that environment `n` showed, was paid and pressed."""
    trans = fragment.transitions
    arrays = (trans.observations, trans.ended, fragment.rewards, fragment.actions)
    return b"".join(array[:, n].tobytes() for array in arrays)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_game_beside_one_that_is_taken_over_plays_as_it_does_alone(puzzle: StartSet, seed: int):
    only_the_second = assisted(lambda asked: PLAN if asked.env == 1 else "timeout")
    beside, digests, _ = play(2, puzzle, only_the_second, seed=seed)
    alone, alone_digests, _ = play(1, puzzle, None, seed=seed)
    assert beside.by_planner[:, 1].sum() >= 60, "two takeovers"
    assert not beside.by_planner[:, 0].any()
    assert beside.transitions.ended[:, 1].any(), "episodes end, in takeovers too"
    assert column(beside, 0) == column(alone, 0)
    assert digests[0] == alone_digests[0]
    unhelped, _, _ = play(2, puzzle, None, seed=seed)
    assert column(beside, 1) != column(unhelped, 1)


def test_a_planner_that_never_answers_changes_nothing(puzzle: StartSet):
    waiting, digests, _ = play(2, puzzle, assisted(lambda _: PLAN, at_once=False), quota=4)
    without, other_digests, _ = play(2, puzzle, None, quota=4)
    assert waiting.assistance is not None
    assert waiting.assistance.planner.in_flight["puzzle"] == 2
    for n in range(2):
        assert column(waiting, n) == column(without, n)
    assert digests == other_digests
    assert [each.pack() for each in waiting.captures] == [each.pack() for each in without.captures]


def test_the_ways_and_the_budget_are_saved_and_takeovers_are_not(puzzle: StartSet):
    _, _, saved = play(2, puzzle, assisted(lambda _: PLAN))
    assert set(saved["assistance"]) == {"takeovers", "ways", "guide"}
    assert "assistance" not in play(1, puzzle, None)[2]
