"""A checkpoint holds everything: what comes after it comes again, bit for bit."""

import hashlib
import itertools
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.evaluation.player import EvaluationTask
from rlaif.trainer.learner import saving
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, config_of
from rlaif.trainer.learner.evaluating import play_on_runners
from rlaif.trainer.learner.networks.decision_module import ADDED
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.learner.runners.driver_files import RunningDriverFiles
from rlaif.trainer.learner.runners.opening import open_runners, runner_config
from rlaif.trainer.learner.runners.runner import StopAskedError
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.run_folder import checkpoints, npz_tree
from rlaif.trainer.run_folder.checkpoints import LEARNER, POLICY
from rlaif.trainer.search.opening import open_search
from rlaif.trainer.search.tree import read_tree
from rlaif.trainer.settings import TrainerSettings

EPISODE = 100
ARMS: dict[str, dict[str, Any]] = {
    "seed": {"actions": "seed"},
    "macros": {"actions": "macros"},
    "pictures": {"actions": "seed", "policy": "cnn"},
}
KEPT: list[RunningDriverFiles | None] = []
"""The actor ends with the last reference to it."""


def algorithm(
    directory: Path, workers: int, arm: str, *, attempt: int, resumes: bool, away: bool
) -> ShapedPPO:
    settings = TrainerSettings.model_validate(
        {
            "ray_workers": workers,
            "envs_per_worker": 1 if arm == "seed" else 2,
            "explore": {"share": 0.5},
            "batch_size": 128,
            "minibatch_size": 32,
            "epochs": 2,
            "learning_rate": 1e-3,
            "curiosity_weight": 0.1,
            "episode_length": EPISODE,
            **ARMS[arm],
        }
    )
    env = EnvConfig(
        run_id="r",
        attempt=attempt,
        game=settings.game,
        gamma=settings.ppo.gamma,
        pictures=arm == "pictures",
    )
    files = RunningDriverFiles.start(directory) if away else None
    name = "" if files is None else files.name
    KEPT.append(files)
    config = runner_config(settings, env, files=name, exploring=settings.exploring, resumes=resumes)
    runners = open_runners(config, workers, on_cluster=away)
    found = ShapedPPO(config_of(settings, config), runners)
    if config.exploring:
        found.exploration.open(lambda: open_search(directory / "search", load_cartridge()))
    return found


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
    ("workers", "arm", "away"),
    [
        (0, "seed", False),
        (1, "seed", False),
        (1, "seed", True),
        (0, "macros", False),
        (0, "pictures", False),
    ],
    ids=[
        "in the process",
        "one runner, overlapped",
        "one runner, on another machine",
        "decisions, in the process",
        "pictures, in the process",
    ],
)
def test_the_update_after_a_resume_is_that_of_the_uninterrupted_run(
    tmp_path: Path, request: pytest.FixtureRequest, workers: int, arm: str, away: bool
):
    if away:
        request.getfixturevalue("ray_here")
    run, copy = tmp_path / "run", tmp_path / "copy"
    run.mkdir()
    checkpoint = run / "checkpoint"
    checkpoint.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = algorithm(run, workers, arm, attempt=0, resumes=False, away=away)
        for _ in range(2):
            one.train()
        before = parameters(one)
        saving.save(one, RunTally(), checkpoint)
        shutil.copytree(run, copy)  # the run continues in its own directory
        expected = []
        for _ in range(2):
            one.train()
            expected.append(parameters(one))
        one.stop()

        two = algorithm(copy, workers, arm, attempt=1, resumes=True, away=away)
        assert parameters(two) != before
        assert saving.restore(two, RunTally(), copy / "checkpoint") == []
        assert parameters(two) == before
        found = []
        for _ in range(2):
            two.train()
            found.append(parameters(two))
        if not workers:
            task = EvaluationTask.of(two.config.env_config["env"], length=60, seed=5, greedy=False)
            first, second = (play_on_runners(two.runners, task, 3) for _ in range(2))
            assert first == second
        two.stop()
    assert found == expected
    assert len({before, *expected}) == 3, "each update changed them"
    assert not list(checkpoint.glob("*.pkl")), "nothing is pickled"
    if arm == "macros":
        with read_tree(checkpoint / checkpoints.SEARCH) as tree:
            assert len(tree) > 1, "and something was found"


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
        saving.save(one, figures, checkpoint, patience=0.0)
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
        saving.save(one, RunTally(), checkpoint)
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
