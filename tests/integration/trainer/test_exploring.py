"""Environments that explore beside those that the policy plays."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.learner.algorithm.learner_rewards import LearnedRewards
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, config_of
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.learner.runners.opening import runner_config
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploring import Explorer
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.play.start import EXPLORATION
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.run_folder import npz_tree
from rlaif.trainer.search.opening import open_search
from rlaif.trainer.search.search import Search
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import GameSettings

STEPS = 60


class Play:
    """One environment of a policy that presses buttons, and perhaps one that explores."""

    def __init__(self, search: Search, *, exploring: int, begin: bool = True) -> None:
        self.search, self.explorer = search, Explorer(exploring)
        config = EnvConfig(run_id="r", game=GameSettings(episode_length=400))
        self.vector = EmulatorVector(
            config,
            count=1 + exploring,
            runner=0,
            seed=3,
            begin=begin and not exploring,
            explorer=self.explorer,
        )

    def play(self, seed: int) -> Fragment:
        actions = np.random.default_rng(seed).integers(0, 8, size=STEPS)
        self.explorer.take_in(self.search.next_job(0))
        self.vector.begin_fragment(STEPS, capture_quota=4, context=CaptureContext())
        for t in range(STEPS):
            self.vector.step(t, np.full(self.vector.count, actions[t]))
        shape = (STEPS, self.vector.count)
        none = np.zeros(shape, dtype=np.float32)
        return self.vector.end_fragment(np.zeros((*shape, 8), dtype=np.float32), none)


@pytest.fixture
def search(tmp_path: Path) -> Any:
    search = open_search(tmp_path, load_cartridge())
    yield search
    search.close()


def test_the_policys_environments_play_as_without_one_that_explores(search: Search):
    alone, beside = Play(search, exploring=0), Play(search, exploring=1)
    for seed in range(3):
        one, two = alone.play(seed), beside.play(seed)
        for expected, found in (
            (one.transitions.observations, two.transitions.observations),
            (one.policy_inputs, two.policy_inputs),
            (one.rewards, two.rewards),
            (one.actions, two.actions),
        ):
            assert expected is not None
            assert found is not None
            assert np.array_equal(expected[:, 0], found[:, 0])
        assert one.reward_parts == two.reward_parts
        assert two.of_policy().actions.shape == (STEPS, 1)
    assert beside.explorer.report().decisions > 0
    alone.vector.close()
    beside.vector.close()


def test_captures_say_whether_their_episode_began_at_the_runs_own_start(search: Search):
    play = Play(search, exploring=1)
    captures = [each.capture for seed in range(6) for each in play.play(seed).captures]
    assert {(each.env_id, each.from_own_start) for each in captures} == {
        ("r-0-0-0", True),
        ("r-0-0-1", False),
    }
    play.vector.close()


def test_a_resumed_run_begins_another_rollout_and_the_policy_plays_on(
    search: Search, tmp_path: Path
):
    first = Play(search, exploring=1)
    first.play(1)
    npz_tree.write(tmp_path / "saved.npz", first.vector.state_dict())
    expected = first.play(2)
    second = Play(search, exploring=1, begin=False)
    assert second.vector.load_state_dict(npz_tree.read(tmp_path / "saved.npz")) is None
    found = second.play(2)
    own = found.transitions.observations[:, 0]
    assert np.array_equal(own, expected.transitions.observations[:, 0])
    assert (0, 1) in found.env_index_of_end
    assert second.explorer.report().decisions > STEPS // 2
    first.vector.close()
    second.vector.close()


def test_rollouts_are_episodes_that_no_figure_counts(search: Search):
    play, tally = Play(search, exploring=1), RunTally()
    explored = 0
    for seed in range(6):
        fragment = play.play(seed)
        explored += sum(each.start.startswith(EXPLORATION) for each in fragment.episodes)
        rises = [np.zeros_like(fragment.of_policy().rewards)]
        tally.add([fragment], LearnedRewards(rises=rises))
    play.vector.close()
    assert explored > 3
    assert tally.episodes == tally.ended.count <= 2


STORYLESS = """
import sys
from rlaif.game.description import words
from rlaif.game.stories import milestones, story_lookup

HIDDEN = ("walkthrough", "rooms.c", "/guides/", "/docs/", "/cartridge/", ".csv")

def watch(event, arguments):
    path = str(arguments[0])
    if event == "open" and ".py" not in path and any(each in path for each in HIDDEN):
        raise PermissionError(f"somebody opened {path}")

if sys.argv[1] == "without":
    story_lookup.story_of = lambda game, rom: milestones.Story(())
    known = words.words_of
    words.words_of = lambda game, rom: known("other", rom)
    sys.addaudithook(watch)
"""
"""A trainer that does not know the story: no milestones, no names of places, no texts, no map."""

PLAY = """
import hashlib, json, tempfile
from pathlib import Path
from test_exploring import Play
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.search.opening import open_search

search = open_search(Path(tempfile.mkdtemp()), load_cartridge())
play = Play(search, exploring=1)
digest, reward = hashlib.sha256(), 0.0
for seed in range(4):
    fragment = play.play(seed)
    digest.update(fragment.transitions.observations.tobytes() + fragment.rewards.tobytes())
    reward += float(abs(fragment.rewards[:, 0]).sum())
    search.take_in(0, play.explorer.report())
found = [node.digest for node in search._tree.nodes()]
print(json.dumps([digest.hexdigest(), reward, found]))
"""


def played(story: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", STORYLESS + PLAY, story],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        cwd=Path(__file__).parent,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_play_rewards_and_finds_do_not_depend_on_the_story():
    digest, reward, found = played("without")
    assert [digest, reward, found] == played("with")
    assert reward > 0
    assert len(found) > 5


def test_of_runners_with_one_environment_each_one_explores_while_the_other_is_learned_from(
    search: Search,
):
    settings = TrainerSettings.model_validate(
        {
            "ray_workers": 2,
            "envs_per_worker": 1,
            "explore": {"share": 0.5},
            "batch_size": 128,
            "minibatch_size": 32,
            "curiosity_weight": 0.1,
        }
    )
    env = EnvConfig(run_id="r", game=settings.game)
    config = runner_config(settings, env, exploring=settings.exploring)
    algorithm, tally = ShapedPPO(config_of(settings, config)), RunTally()
    algorithm.exploration.open(lambda: search)
    try:
        for _ in range(3):
            learned = algorithm.train()
            tally.add(algorithm.fragments, algorithm.learned, env_steps=algorithm.env_steps)
            assert [fragment.exploring for fragment in algorithm.fragments] == [1, 0]
            assert "total_loss" in learned, "the steps of the other one are learned from"
            assert algorithm.learned.samples_left_out == 0
    finally:
        algorithm.stop()
    assert search.figures.rollouts > 0
