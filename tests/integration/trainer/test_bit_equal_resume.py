"""A checkpoint holds everything: what comes after it comes again, bit for bit."""

import hashlib
import itertools
import shutil
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from rlaif.trainer.learner import saving
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.learner.networks.decision_module import ADDED
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.learner.runners.driver_files import RunningArchiveServer
from rlaif.trainer.learner.runners.opening import open_runners
from rlaif.trainer.learner.runners.runner import StopAskedError
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.explorer import ExplorationFollower, ExploreConfig, Explorer
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.run_folder import npz_tree
from rlaif.trainer.run_folder.checkpoints import LEARNER, POLICY
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import ExploreSettings, GameSettings

EPISODE = 100
KEPT: list[RunningArchiveServer] = []
"""An archive server ends with the last reference to it."""


def explore(directory: Path) -> ExploreConfig:
    """Everything that draws: archived starts, states kept often."""
    return ExploreConfig(directory, ExploreSettings(restarts=0.5), save_every=50)


class Play:
    """Two games and who explores them, without RLlib."""

    def __init__(self, directory: Path, attempt: int, *, begin: bool = True) -> None:
        self.directory = directory
        self.explorer: Explorer | None = None
        config = EnvConfig(
            run_id="r", attempt=attempt, game=GameSettings(actions="seed", episode_length=EPISODE)
        )
        self.vector = EmulatorVector(
            config, count=2, runner=0, seed=3, follow=self._watch, begin=begin
        )

    def _watch(self, game: GameEnv, n: int) -> ExplorationFollower:
        if self.explorer is None:
            self.explorer = Explorer.of_game(
                explore(self.directory),
                runner=0,
                cartridge=game.cartridge,
                emulator=game.emulator,
                frame_skip=4,
            )
        return self.explorer.environment(n, game)

    def play(self, steps: int, seed: int) -> tuple[bytes, list[str], tuple[str, ...]]:
        """Observations and rewards, RAM digests, and where episodes started."""
        actions = np.random.default_rng(seed).integers(0, 8, size=(steps, 2))
        self.vector.begin_fragment(steps, capture_quota=2, context=CaptureContext())
        for t in range(steps):
            self.vector.step(t, actions[t])
        empty = np.zeros((steps, 2), dtype=np.float32)
        done = self.vector.end_fragment(np.zeros((steps, 2, 8), dtype=np.float32), empty)
        seen = done.transitions.observations.tobytes() + done.rewards.tobytes()
        return (
            seen,
            [game.emulator.ram_digest() for game in self.vector.games],
            tuple(each.start for each in done.episodes),
        )


def test_games_resume_in_the_middle_of_their_episodes(tmp_path: Path):
    first = Play(tmp_path / "first", attempt=0)
    assert first.explorer is not None
    first.play(250, seed=1)
    npz_tree.write(
        tmp_path / "saved.npz",
        {"vector": first.vector.state_dict(), "explorer": first.explorer.state_dict()},
    )
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    expected = first.play(300, seed=2)
    assert any(start.startswith("archive:") for start in expected[2]), "exploration drew starts"

    saved = npz_tree.read(tmp_path / "saved.npz")
    second = Play(tmp_path / "second", attempt=1, begin=False)
    assert second.explorer is not None
    assert second.vector.load_state_dict(saved["vector"]) is None
    second.explorer.load_state_dict(saved["explorer"], played_from=saved["explorer"]["played_from"])
    assert second.play(300, seed=2) == expected
    assert second.explorer.state_dict() == first.explorer.state_dict()
    assert second.explorer.coverage == first.explorer.coverage
    first.vector.close()
    second.vector.close()


def algorithm(
    directory: Path, workers: int, actions: str, *, attempt: int, resumes: bool, away: bool
) -> ShapedPPO:
    settings = TrainerSettings.model_validate(
        {
            "ray_workers": workers,
            "envs_per_worker": 1,
            "batch_size": 128,
            "minibatch_size": 32,
            "epochs": 2,
            "learning_rate": 1e-3,
            "curiosity_weight": 0.1,
            "imitation_weight": 0.1,
            "episode_length": EPISODE,
            "actions": actions,
        }
    )
    env = EnvConfig(run_id="r", attempt=attempt, game=settings.game, gamma=settings.ppo.gamma)
    if not away:
        return ShapedPPO(build_config(settings, env, explore(directory), resumes=resumes))
    archive_server = RunningArchiveServer.start(explore(directory))
    KEPT.append(archive_server)
    config = replace(archive_server.config, directory=directory / "not there on another machine")
    found = build_config(settings, env, config, resumes=resumes)
    runners = open_runners(found.env_config["runner"], workers, on_cluster=True)
    return ShapedPPO(found, runners)


def parameters(algorithm: ShapedPPO) -> str:
    """Digest of every network parameter and every number of the optimizer."""
    digest = hashlib.sha256()
    learner = algorithm.learner_group.get_state()["learner"]
    weights = learner["rl_module"]["default_policy"]
    for name in sorted(weights):
        digest.update(np.asarray(weights[name]).tobytes())
    for each in learner["optimizer"].values():
        for moments in each["state"]["state"].values():
            for name in sorted(moments):
                digest.update(np.asarray(moments[name]).tobytes())
    return digest.hexdigest()


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("workers", "actions", "away"),
    [(0, "seed", False), (1, "seed", False), (1, "seed", True), (0, "macros", False)],
    ids=[
        "in the process",
        "one runner, overlapped",
        "one runner, on another machine",
        "decisions, in the process",
    ],
)
def test_the_update_after_a_resume_is_that_of_the_uninterrupted_run(
    tmp_path: Path, request: pytest.FixtureRequest, workers: int, actions: str, away: bool
):
    if away:
        request.getfixturevalue("ray_here")
    run, copy = tmp_path / "run", tmp_path / "copy"
    run.mkdir()
    checkpoint = run / "checkpoint"
    checkpoint.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = algorithm(run, workers, actions, attempt=0, resumes=False, away=away)
        for _ in range(2):
            one.train()
        before = parameters(one)
        saving.save(one, RunTally(), checkpoint, run)
        shutil.copytree(run, copy)  # the run continues in its own directory
        expected = []
        for _ in range(2):
            one.train()
            expected.append(parameters(one))
        one.stop()

        two = algorithm(copy, workers, actions, attempt=1, resumes=True, away=away)
        assert parameters(two) != before
        assert saving.restore(two, RunTally(), copy / "checkpoint") == []
        assert parameters(two) == before
        found = []
        for _ in range(2):
            two.train()
            found.append(parameters(two))
        two.stop()
    assert found == expected
    assert len({before, *expected}) == 3, "each update changed them"
    assert not list(checkpoint.glob("*.pkl")), "nothing is pickled"
    assert list(run.glob("exploration/*/archive/states/*.zst")), "and something was found"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("workers", [0, 1], ids=["in the process", "one runner, overlapped"])
def test_a_stop_while_games_are_played_saves_what_the_last_iteration_left(
    tmp_path: Path, workers: int
):
    polls = itertools.count()
    figures = RunTally()
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = algorithm(tmp_path, workers, "seed", attempt=0, resumes=False, away=False)
        one.train()
        before, steps = parameters(one), one.env_steps
        one.sampler.stop_asked = lambda: next(polls) >= (40 if workers == 0 else 0)
        with pytest.raises(StopAskedError):
            one.train()
        assert one.sampler.interrupted == (workers == 0), "in its 40th step"
        saving.save(one, figures, checkpoint, tmp_path, patience=0.0)
        one.stop()

        two = algorithm(tmp_path, workers, "seed", attempt=1, resumes=True, away=False)
        passed_over = saving.restore(two, figures, checkpoint)
        assert bool(passed_over) == one.sampler.interrupted
        assert (parameters(two), two.env_steps, two.training_iteration) == (before, steps, 1)
        two.train()
        assert parameters(two) != before
        assert two.env_steps > steps
        two.stop()


def test_a_checkpoint_without_the_critics_own_inputs_resumes(tmp_path: Path):
    """As of 0.1.0: the critic starts with what it knew, and the optimizer with its moments."""
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = algorithm(tmp_path, 0, "macros", attempt=0, resumes=False, away=False)
        one.train()
        saving.save(one, RunTally(), checkpoint, tmp_path)
        one.stop()
        policy = load_file(checkpoint / POLICY)
        for name in ADDED:
            policy.pop(name)
        save_file(policy, checkpoint / POLICY)
        state = npz_tree.read(checkpoint / LEARNER)
        (moments,) = state["optimizer"].values()
        moments.pop(max(moments))
        npz_tree.write(checkpoint / LEARNER, state)

        two = algorithm(tmp_path, 0, "macros", attempt=1, resumes=True, away=False)
        assert saving.restore(two, RunTally(), checkpoint) == []
        learner = two.learner_group.get_state()["learner"]
        weights = dict(learner["rl_module"]["default_policy"])
        assert not any(np.any(weights.pop(name)) for name in ADDED)
        assert all(np.array_equal(weights[name], policy[name]) for name in weights)
        (each,) = learner["optimizer"].values()
        resumed = each["state"]["state"]
        assert all(np.array_equal(resumed[n]["exp_avg"], moments[n]["exp_avg"]) for n in moments)
        before = parameters(two)
        two.train()
        assert parameters(two) != before
        two.stop()
