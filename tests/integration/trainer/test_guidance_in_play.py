"""Guidance on the real cartridge: its bonus is a separate reward term, and games are unaffected."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.planning.plans import Suggestion
from rlaif.game.machine.actions import Action
from rlaif.testing.planner.scripted_planner import ScriptedPlanner
from rlaif.trainer.learner.runners.runner import AssistConfig, assisted_by
from rlaif.trainer.play.assist.assistance import Assistance
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.fragment import Fragment, fragment_of, plain
from rlaif.trainer.play.planner_port import PlannerQuestion
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.settings.game import CaptureSettings, GameSettings
from rlaif.trainer.settings.planner import GuidanceSettings, PlannerSettings, TakeoverSettings

ENVS, STEPS, SEED = 3, 300, 4
ENV = EnvConfig(
    run_id="t",
    game=GameSettings(actions="seed", episode_length=220),
    capture=CaptureSettings(keyframe_steps=60),
)
OFTEN = AssistConfig(
    PlannerSettings(),
    TakeoverSettings(share=0),
    GuidanceSettings(text_chance=0.2, vision_chance=0.2, rest_steps=5, most_waiting=None),
)


def suggests(question: PlannerQuestion) -> Suggestion:
    """A button that depends on the moment."""
    return Suggestion(reason="so", button=("UP", "LEFT", "A")[question.asked_step % 3])


class Runner:
    """A vector of a policy that presses by chance, and the planner that helps it."""

    def __init__(self, config: AssistConfig | None = OFTEN, *, begin: bool = True) -> None:
        self.planner = ScriptedPlanner(suggests, at_once=True)
        self.vector = EmulatorVector(
            ENV, count=ENVS, runner=2, seed=SEED, assist=self._assist(config), begin=begin
        )

    def _assist(self, config: AssistConfig | None) -> Callable[..., Assistance] | None:
        if config is None:
            return None

        def make(games: Sequence[Any]) -> Assistance:
            return assisted_by(self.planner, config, ENV, games, runner=2, seed=SEED)

        return make

    def play(self, steps: int = STEPS, *, policy: int = 0) -> Fragment:
        actions = np.random.default_rng(policy).integers(0, 6, (steps, ENVS))
        self.vector.begin_fragment(steps, capture_quota=4, context=CaptureContext())
        for t in range(steps):
            self.vector.step(t, actions[t - t % 4])
        shape = (steps, ENVS)
        logits = np.zeros((*shape, 8), np.float32)
        return self.vector.end_fragment(logits, np.zeros(shape, np.float32))


@pytest.fixture
def runner():
    """Makes runners and closes them."""
    made: list[Runner] = []

    def make(*args: Any, **how: Any) -> Runner:
        made.append(Runner(*args, **how))
        return made[-1]

    yield make
    for each in made:
        each.vector.close()


def test_bonuses_are_beside_the_games_rewards_which_stay_the_sum_of_their_parts(
    runner: Callable[..., Runner],
):
    fragment = runner().play()
    assert fragment.guidance is not None
    assert "guidance" not in fragment.reward_parts
    assert sum(fragment.reward_parts.values()) == pytest.approx(float(fragment.rewards.sum()))
    reported = fragment.assistance
    assert reported is not None
    assert fragment.guidance.sum(dtype=np.float64) == pytest.approx(sum(reported.bonus.values()))
    amounts = set(fragment.guidance[fragment.guidance > 0].tolist())
    assert amounts == {float(np.float32(0.02)), float(np.float32(0.05))}
    followed = sum(fates["followed"] for fates in reported.suggestions.values())
    assert (fragment.guidance > 0).sum() == followed > 5
    assert {event.env for event in reported.events} <= {"2-0", "2-1", "2-2"}


def test_a_bonus_is_for_the_button_that_the_policy_pressed_itself(runner: Callable[..., Runner]):
    helped = runner()
    fragment = helped.play()
    assert fragment.guidance is not None
    suggested = {Action.UP, Action.LEFT, Action.A}
    assert set(fragment.actions[fragment.guidance > 0].tolist()) <= suggested
    assert {question.mode for question in helped.planner.asked} == {"dialog", "vision"}
    for question in helped.planner.asked:
        assert (question.picture is not None) == (question.mode == "vision")
        assert question.evidence.room is not None, "the briefing of the game"


def test_guidance_touches_no_game_and_no_capture(runner: Callable[..., Runner]):
    guided, alone = runner(), runner(None)
    with_it, without = guided.play(), alone.play()
    assert [game.emulator.ram_digest() for game in guided.vector.games] == [
        game.emulator.ram_digest() for game in alone.vector.games
    ]
    assert np.array_equal(with_it.rewards, without.rewards)
    assert np.array_equal(with_it.transitions.observations, without.transitions.observations)
    # A save state holds the picture that was drawn last, so keyframes may differ in that alone.
    for kept, bare in zip(with_it.captures, without.captures, strict=True):
        changed = {"keyframe_sha256": bare.capture.keyframe_sha256}
        assert kept.capture.model_copy(update=changed) == bare.capture
    assert [each.reward for each in with_it.episodes] == [each.reward for each in without.episodes]
    assert without.guidance is None


def test_a_resumed_run_draws_and_rewards_as_the_uninterrupted_one(runner: Callable[..., Runner]):
    first, second = runner(), runner(begin=False)
    steps = 60
    first.play(steps)
    while first.planner.waiting:  # what waits at a checkpoint is lost with its process
        steps += 1
        first.play(1, policy=steps)
    saved = first.vector.state_dict()
    assert second.vector.load_state_dict(saved) is None
    asked = len(first.planner.asked)
    goes_on, resumed = first.play(policy=9), second.play(policy=9)
    assert goes_on.guidance is not None
    assert resumed.guidance is not None
    assert np.array_equal(goes_on.guidance, resumed.guidance)
    assert goes_on.guidance.any()
    later = [(each.env, each.mode, each.asked_step) for each in first.planner.asked[asked:]]
    assert later == [(each.env, each.mode, each.asked_step) for each in second.planner.asked]


def test_a_fragment_keeps_its_bonuses_in_a_checkpoint(runner: Callable[..., Runner]):
    fragment = runner().play(80)
    again = fragment_of(plain(fragment))
    assert fragment.guidance is not None
    assert again.guidance is not None
    assert np.array_equal(again.guidance, fragment.guidance)
