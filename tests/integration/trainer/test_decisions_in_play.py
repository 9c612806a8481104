"""Decisions of their own length on the real cartridge: what is kept is what was played."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.planning.plans import MoveTo, Plan, Suggestion
from rlaif.game.captures.capture import pack_keyframe
from rlaif.game.decisions.catalog import DECISIONS, WALK
from rlaif.game.machine.actions import Action
from rlaif.game.memory.memory_map import address
from rlaif.game.policy_input.layout import ALLOWED, NO_DECISION, POLICY_INPUT
from rlaif.testing.data.captures import replay_all
from rlaif.testing.planner.scripted_planner import ScriptedPlanner
from rlaif.trainer.evaluation.player import EvaluationTask
from rlaif.trainer.evaluation.player import play as evaluate
from rlaif.trainer.learner.runners.runner import AssistConfig, assisted_by
from rlaif.trainer.play.assist.assistance import Assistance
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.followers.places import PlaceCounts, PlaceFollower
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.planner_port import PlannerQuestion
from rlaif.trainer.play.start import Start, StartSet
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.run_folder import npz_tree
from rlaif.trainer.settings.game import CaptureSettings, GameSettings
from rlaif.trainer.settings.planner import GuidanceSettings, PlannerSettings, TakeoverSettings

ARMS = {"buttons": 280, "macros": 110, "options": 70}
"""Rows in which chance plays some episodes of each."""

GAMMA = 0.99
LAST_DECISION = POLICY_INPUT["last_decision"].start
_HEALTH, _FINISHED = address("wLinkHealth"), address("wFileIsCompleted")


def config_of(arm: str, **game: Any) -> EnvConfig:
    return EnvConfig(
        run_id="t",
        game=GameSettings.model_validate({"actions": arm, "episode_length": 250} | game),
        capture=CaptureSettings(keyframe_steps=60),
        gamma=GAMMA,
    )


def play(vector: EmulatorVector, rows: int, *, seed: int = 0, quota: int = 0) -> Fragment:
    """A fragment of a policy that makes any decision that is allowed, drawn with a seed."""
    rng = np.random.default_rng(seed)
    vector.begin_fragment(rows, capture_quota=quota, context=CaptureContext(env_step=5))
    for t in range(rows):
        vector.step(t, drawn(rng, vector))
    shape = (rows, vector.count)
    logits = np.zeros((*shape, len(DECISIONS)), np.float32)
    return vector.end_fragment(logits, np.zeros(shape, np.float32))


def drawn(rng: np.random.Generator, vector: EmulatorVector) -> np.ndarray:
    if vector.policy_inputs is None:
        return rng.integers(0, len(Action), size=vector.count)
    return np.array([rng.choice(np.flatnonzero(row[ALLOWED])) for row in vector.policy_inputs])


@pytest.fixture
def vector_of():
    """Makes vectors and closes them."""
    made: list[EmulatorVector] = []

    def make(config: EnvConfig, *, count: int = 2, **how: Any) -> EmulatorVector:
        made.append(EmulatorVector(config, count=count, **{"runner": 1, "seed": 3} | how))
        return made[-1]

    yield make
    for each in made:
        each.close()


Making = Callable[..., EmulatorVector]


@pytest.mark.parametrize("arm", ARMS)
def test_captures_and_the_best_episodes_replay_to_the_same_ram(vector_of: Making, arm: str):
    """They are streams of base steps, whatever was decided."""
    vector = vector_of(config_of(arm))
    fragments = [play(vector, ARMS[arm], seed=seed, quota=6) for seed in range(2)]
    captures = [item for each in fragments for item in each.captures]
    assert len(captures) > 2
    whole = [best.whole for each in fragments for best in each.best]
    assert whole, "episodes ended"
    replay_all([*captures, *whole])
    assert all(len(item.capture.actions) > item.capture.frame_skip for item in whole)
    assert any(each.frames is not None and (each.frames > 4).any() for each in fragments)


@pytest.mark.parametrize("arm", ARMS)
def test_what_decisions_are_paid_is_what_their_steps_are_paid(vector_of: Making, arm: str):
    vector = vector_of(replace(config_of(arm), gamma=1.0))
    fragment = play(vector, 80)
    paid = sum(fragment.reward_parts.values())
    assert paid > 0
    assert fragment.rewards.sum(dtype=np.float64) == pytest.approx(paid, abs=1e-4)
    discounted = play(vector_of(config_of(arm)), 80)
    assert discounted.reward_parts == fragment.reward_parts
    assert np.array_equal(discounted.actions, fragment.actions), "the same play"
    assert discounted.rewards.sum() < fragment.rewards.sum()


@pytest.mark.parametrize("arm", ARMS)
def test_a_decision_is_made_of_what_is_allowed_and_is_known_afterwards(vector_of: Making, arm: str):
    fragment = play(vector_of(config_of(arm)), 60)
    trans, inputs = fragment.transitions, fragment.policy_inputs
    assert inputs is not None
    steps, envs = fragment.actions.shape
    for t in range(steps):
        for n in range(envs):
            assert inputs[t, n, ALLOWED][fragment.actions[t, n]] == 1.0
            follows = NO_DECISION if trans.ended[t, n] else fragment.actions[t, n]
            assert inputs[t + 1, n, LAST_DECISION] == follows
    assert fragment.final_policy_inputs is not None
    lasts = fragment.final_policy_inputs[:, LAST_DECISION]
    assert lasts.tolist() == [fragment.actions[t, n] for t, n in trans.final_index]


def test_episodes_are_cut_by_their_frames_waits_included(vector_of: Making):
    vector = vector_of(config_of("macros"))
    fragments = [play(vector, 60, seed=seed) for seed in range(3)]
    ended = [each for fragment in fragments for each in fragment.episodes]
    assert len(ended) > 3
    for each in ended:
        assert 1_000 <= each.frames <= 1_000 + 4 + 240, "the step that went over it was played out"
        assert 4 * each.length <= each.frames
    total = sum(int(fragment.frames.sum()) for fragment in fragments if fragment.frames is not None)
    assert total >= sum(each.frames for each in ended)
    assert sum(fragment.base_steps for fragment in fragments) >= sum(each.length for each in ended)


class Play:
    """Two games and the counts of their places."""

    def __init__(self, arm: str, attempt: int, *, begin: bool = True) -> None:
        config = replace(config_of(arm, episode_length=150), attempt=attempt)
        self.counts = counts = PlaceCounts()
        self.vector = EmulatorVector(
            config,
            count=2,
            runner=0,
            seed=3,
            follow=lambda game, n: PlaceFollower(counts, game),
            begin=begin,
        )

    def play(self, rows: int, seed: int) -> tuple[Any, ...]:
        done = play(self.vector, rows, seed=seed, quota=2)
        arrays = (
            done.transitions.observations, done.policy_inputs, done.final_policy_inputs,
            done.rewards, done.frames, done.actions, done.transitions.died,
        )  # fmt: skip
        return (
            [None if array is None else array.tobytes() for array in arrays],
            [game.emulator.ram_digest() for game in self.vector.games],
            [(each.start, each.frames) for each in done.episodes],
        )


@pytest.mark.parametrize(("arm", "rows"), [("seed", 280)] + [(arm, 70) for arm in ARMS])
def test_games_resume_in_the_middle_of_their_episodes(tmp_path: Path, arm: str, rows: int):
    first = Play(arm, attempt=0)
    first.play(rows, seed=1)
    npz_tree.write(tmp_path / "saved.npz", first.vector.state_dict())
    counted = Counter(first.counts.episodes)
    expected = first.play(rows, seed=2)
    second = Play(arm, attempt=1, begin=False)
    second.counts.take_in(counted)
    assert second.vector.load_state_dict(npz_tree.read(tmp_path / "saved.npz")) is None
    assert second.play(rows, seed=2) == expected
    assert second.counts.episodes == first.counts.episodes != counted
    first.vector.close()
    second.vector.close()


def test_a_game_of_one_arm_is_not_resumed_by_another(vector_of: Making):
    one, other = vector_of(config_of("macros"), count=1), vector_of(config_of("options"), count=1)
    why = other.load_state_dict(one.state_dict())
    assert why is not None
    assert "'actions': 'macros'" in why
    seeds = vector_of(EnvConfig(run_id="t", game=GameSettings(actions="seed")), count=1)
    assert seeds.load_state_dict(one.state_dict()) is not None
    saved = seeds.state_dict()
    del saved["played"]["actions"], saved["decisions"]
    assert seeds.load_state_dict(saved) is None, "states of 0.1.0 have neither"


def test_who_dies_has_paid_for_it_once_and_plays_on(vector_of: Making):
    vector = vector_of(config_of("macros", episode_length=5_000), count=1)
    vector.begin_fragment(6, capture_quota=0, context=CaptureContext())
    for t in range(6):
        if t == 3:
            vector.games[0].emulator.poke(None, _HEALTH, 0)
        vector.step(t, np.array([WALK[t % 4]]))
    fragment = vector.end_fragment(np.zeros((6, 1, 1), np.float32), np.zeros((6, 1), np.float32))
    trans = fragment.transitions
    assert trans.died is not None
    assert trans.died[:, 0].tolist() == [False, False, False, True, False, False]
    assert not trans.ended.any()
    assert fragment.reward_parts["death"] == -2.0
    assert fragment.frames is not None
    assert fragment.frames[3, 0] > 100, "until the game has put him somewhere"
    facts = vector.games[0].facts
    assert facts.control
    assert facts.health > 0


def test_the_seeds_end_an_episode_there_and_so_does_the_setting(vector_of: Making):
    for config in (
        EnvConfig(run_id="t", game=GameSettings(actions="seed")),
        config_of("macros", death_ends=True),
    ):
        vector = vector_of(config, count=1)
        vector.begin_fragment(1, capture_quota=0, context=CaptureContext())
        vector.games[0].emulator.poke(None, _HEALTH, 0)
        vector.step(0, np.array([Action.NOP]))
        empty = np.zeros((1, 1), np.float32)
        fragment = vector.end_fragment(np.zeros((1, 1, 1), np.float32), empty)
        assert fragment.transitions.terminated.all()
        assert fragment.reward_parts["death"] == -2.0


def test_the_end_of_the_quest_ends_the_episode(vector_of: Making):
    ended = {}
    for name, config in (
        ("macros", config_of("macros")),
        ("seed", EnvConfig(run_id="t", game=GameSettings(actions="seed"))),
    ):
        vector = vector_of(config, count=1)
        vector.begin_fragment(40, capture_quota=0, context=CaptureContext())
        vector.games[0].emulator.poke(None, _FINISHED, 1)
        for t in range(40):
            vector.step(t, np.array([Action.START if t % 8 == 0 else Action.NOP]))
        empty = np.zeros((40, 1), np.float32)
        fragment = vector.end_fragment(np.zeros((40, 1, 1), np.float32), empty)
        ended[name] = int(fragment.transitions.terminated.sum())
    assert ended == {"macros": 1, "seed": 1}


@pytest.mark.parametrize(("from_play", "most"), [(True, 2), (False, 46)])
def test_where_play_was_before_there_is_next_to_no_warm_up(from_play: bool, most: int):
    game = GameEnv(GameSettings(actions="macros"), np.random.default_rng(0))
    row = np.zeros(128, dtype=np.float32)
    game.reset(row)
    state = game.emulator.save_state()
    game.source.starts = StartSet(
        [Start(state, "there", pack_keyframe(state), from_play=from_play)]
    )
    lengths = set()
    for _ in range(12):
        game.reset(row)
        lengths.add(len(game.start.warm_up))
    game.close()
    assert max(lengths) <= most
    assert len(lengths) > 1, "episodes differ all the same"
    assert from_play or max(lengths) > 2


@pytest.mark.parametrize("lost", [False, True])
def test_an_episode_can_be_cut_from_outside(lost: bool):
    """By a follower. The limit survives a checkpoint; a lost episode ends there."""
    game = GameEnv(GameSettings(actions="macros"), np.random.default_rng(0))
    row = np.zeros(128, dtype=np.float32)
    game.reset(row)
    game.step(Action.NOP, row)
    game.cut_after(14, lost=lost)
    again = GameEnv(GameSettings(actions="macros"), np.random.default_rng(1))
    again.load_state_dict(game.state_dict(), row)
    for each in (game, again):
        outcomes = [each.step(Action.NOP, row) for _ in range(3)]
        assert [outcome.truncated for outcome in outcomes] == [False, False, not lost]
        assert [outcome.terminated for outcome in outcomes] == [False, False, lost]
        assert [outcome.lost for outcome in outcomes] == [False, False, lost]
        assert each.frames == 16
        each.reset(row)
        after = each.step(Action.NOP, row)
        assert not any((after.truncated, after.terminated)), "of that episode alone"
        each.close()


def test_a_fragment_reports_the_time_left_and_which_attempts_were_lost():
    vector = EmulatorVector(config_of("macros"), count=2, runner=1, seed=0)
    vector.games[1].cut_after(400, lost=True)
    fragment = play(vector, 40)
    vector.close()
    left, lost, frames = fragment.frames_left, fragment.transitions.lost, fragment.frames
    assert left is not None
    assert lost is not None
    assert frames is not None
    assert np.isinf(left[:, 0]).all()
    (end,) = np.flatnonzero(lost[:, 1])
    assert fragment.transitions.terminated[end, 1]
    played = np.cumsum(frames[:end, 1])
    assert left[: end + 1, 1].tolist() == [400, *(400 - played)]
    assert np.isinf(left[end + 1 :, 1]).all(), "of that episode alone"


def helped(config: EnvConfig, planner: ScriptedPlanner, **settings: Any) -> Any:
    """Makes an assistance that asks this planner."""
    assist = AssistConfig(
        PlannerSettings(),
        settings.get("takeover", TakeoverSettings(share=0)),
        settings.get("guidance", GuidanceSettings(text_chance=0, vision_chance=0)),
    )

    def make(games: Sequence[Any]) -> Assistance:
        return assisted_by(planner, assist, config, games, runner=1, seed=3)

    return make


@pytest.mark.parametrize("arm", ["seed", *ARMS])
def test_a_planner_takes_over_with_buttons_that_are_decisions_too(
    vector_of: Making, puzzle: StartSet, arm: str
):
    config = config_of(arm, noop_start=4, walk_start=4)
    plan = Plan(reason="", macros=(MoveTo(column=1, row=1),), confidence=1.0)
    planner = ScriptedPlanner(lambda _: plan, at_once=True)
    takeover = TakeoverSettings(share=0.5, max_steps=40, rest_steps=5)
    vector = vector_of(config, starts=puzzle, assist=helped(config, planner, takeover=takeover))
    fragment = play(vector, 400, quota=6)  # chance leaves the puzzle soon, and 100 may be none
    taken = fragment.by_planner
    assert taken.any()
    assert not taken.all()
    assert fragment.actions[taken].max() < len(Action)
    if fragment.frames is not None:
        assert fragment.frames[taken].min() == 4, "one step each"
    assert fragment.captures
    replay_all([*fragment.captures, *(best.whole for best in fragment.best)])


def test_the_ways_between_rooms_are_learned_inside_decisions(vector_of: Making):
    """Each step of a decision is observed: where the player left a room, and in which direction."""
    config = config_of("options", episode_length=2_000)
    nobody = ScriptedPlanner(lambda _: "timeout")
    vector = vector_of(config, assist=helped(config, nobody))
    play(vector, ARMS["options"])
    ways = list(vector._assistance.graph)  # type: ignore[union-attr]  # it was given
    assert ways
    edges = [way for way in ways if way.kind == "edge"]
    assert edges
    for way in edges:
        across = {Action.UP: way.y, Action.DOWN: 128 - way.y, Action.LEFT: way.x}
        assert across.get(way.direction, 160 - way.x) < 24, "he stood at the edge that he crossed"


def test_guidance_is_followed_by_the_decision_that_presses_the_button(vector_of: Making):
    config = config_of("macros")

    def suggests(question: PlannerQuestion) -> Plan | Suggestion:
        return Suggestion(reason="so", button=("UP", "LEFT", "A")[question.asked_step % 3])

    planner = ScriptedPlanner(suggests, at_once=True)
    often = GuidanceSettings(
        text_chance=0.3, vision_chance=0.3, rest_steps=1, most_waiting=None, decisions=None,
        reach_tiles=None,
    )  # fmt: skip
    vector = vector_of(config, assist=helped(config, planner, guidance=often))
    fragment = play(vector, 150)
    assert fragment.guidance is not None
    followed = {DECISIONS[index].name for index in fragment.actions[fragment.guidance > 0]}
    assert followed
    assert followed <= {
        "UP", "LEFT", "A", "WALK_UP", "WALK_LEFT", "LEAVE_UP", "LEAVE_LEFT", "INTERACT",
    }  # fmt: skip
    assert {question.mode for question in planner.asked} == {"dialog", "vision"}
    for question in planner.asked:
        assert (question.picture is not None) == (question.mode == "vision")


@pytest.mark.parametrize("arm", ARMS)
def test_the_same_evaluation_plays_the_same_episodes_by_decisions(arm: str):
    task = EvaluationTask.of(config_of(arm), length=60, seed=11, greedy=False)

    def any_allowed(rows: np.ndarray, policy_inputs: np.ndarray) -> np.ndarray:
        return np.where(policy_inputs[:, ALLOWED] > 0, 0.0, -1e9)

    one = evaluate(task, range(3), any_allowed)
    other = [each for number in (2, 0, 1) for each in evaluate(task, [number], any_allowed)]
    by_number = {each.number: each for each in one}
    assert by_number == {each.number: each for each in other}, "whoever plays beside them"
    assert all(240 <= each.frames <= 240 + 244 for each in one)
