"""`rlaif evaluate` on a policy with initial weights, and on the shipped one."""

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.play.window import Command
from rlaif.trainer.evaluate import Trial, main
from rlaif.trainer.evaluation import policy, result
from rlaif.trainer.evaluation.policy import PolicyError
from rlaif.trainer.evaluation.replaying import show
from rlaif.trainer.learner import evaluating
from rlaif.trainer.learner.algorithm.ppo import network_of
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.play.zelda_env import OBSERVATION_SPACE, actions_of
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.settings import TrainerSettings

NOOK = Path(__file__).parents[2] / "data/nook/nook.gbc"
RUN = "r-quest"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def settings(**changes):
    return TrainerSettings.model_validate(
        {"mode": "quest", "rom_path": NOOK, "hidden": 32, "seed": 3, **changes}
    )


def exported(data_dir, chosen):
    """The manifest of a policy with initial weights, exported as at the end of a run."""
    directory = data_dir / "runs" / RUN
    record = RunRecord(run_id=RUN, created_at=NOW, attempts=0, settings="{}", mode="quest")
    run = RunContext(chosen, record, directory, lambda message: None)
    spec = network_of(chosen)
    spec.observation_space, spec.action_space = OBSERVATION_SPACE, actions_of(chosen.game)
    weights = {name: each.numpy() for name, each in spec.build().state_dict().items()}
    partial = checkpoints.begin(run.checkpoints, 1)
    save_file(weights, partial / checkpoints.POLICY)
    manifest = checkpoints.Manifest(
        run_id=RUN,
        attempt=0,
        created_at=NOW,
        counters=checkpoints.Counters(iteration=1, env_steps=4096, trained_seconds=60.0),
        hidden=32,
        policy="decisions",
        rom_sha256=run.rom_sha256,
        record=record,
    )
    checkpoint, _ = checkpoints.commit(partial, manifest)
    return evaluating.export(run, checkpoint), weights


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A data directory with one trained policy."""
    data_dir = tmp_path_factory.mktemp("trained")
    manifest, weights = exported(data_dir, settings())
    return SimpleNamespace(
        data_dir=data_dir,
        folder=data_dir / "runs" / RUN / policy.FOLDER,
        manifest=manifest,
        all_weights=weights,
    )


def words(home, *options, rom=True):
    game = ("--rom", str(NOOK)) if rom else ()
    return ["--data-dir", str(home.data_dir), *game, *options]


def run(home, *options, rom=True):
    """Exit code and output of the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(words(home, *options, rom=rom))
    return code, out.getvalue(), err.getvalue()


def test_the_files_hold_what_plays_and_no_place_of_the_machine_that_trained(home):
    manifest, weights = policy.read(home.folder)
    assert manifest == home.manifest
    kept = json.loads(manifest.record.settings)
    assert (kept["actions"], kept["seed"], manifest.counters.iteration) == ("macros", 3, 1)
    assert weights.keys() < home.all_weights.keys()
    left_out = home.all_weights.keys() - weights.keys()
    assert all(name.startswith(("critic", "vf")) for name in left_out)
    for name, each in weights.items():
        np.testing.assert_array_equal(each, home.all_weights[name])
    assert str(NOOK.parent) not in manifest.model_dump_json()


def test_only_policies_with_decisions_are_exported(home):
    with pytest.raises(PolicyError, match="train with TRAINER_ACTIONS set to"):
        evaluating.forward_of(home.folder, TrainerSettings.model_validate({"actions": "seed"}))


def test_weights_of_another_network_are_refused(home, tmp_path):
    _, weights = policy.read(home.folder)
    cut = {name: each[:1] for name, each in weights.items()}
    policy.write(tmp_path, home.manifest, cut)
    with pytest.raises(PolicyError, match=r"is another network .*make train-cartridge"):
        evaluating.forward_of(tmp_path, settings())


@pytest.fixture(scope="module")
def evaluated(home):
    """Exit code and output of an evaluation on two processes; its trial is in `home`."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "rlaif.trainer.evaluate"),
            *words(home, "--episodes", "3", "--minutes", "0.2"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    return done.returncode, done.stdout, done.stderr


def test_an_evaluation_ends_with_a_line_of_json_and_keeps_the_episodes(evaluated, home):
    code, out, err = evaluated
    assert (code, err) == (0, "")
    reported = json.loads(out.splitlines()[-1])
    assert set(reported) >= {"milestones_mean", "milestones_best", "essence_share", "episodes"}
    assert (reported["episodes"], reported["player"]) == (3, "trained")
    (trial,) = result.read_all(home.folder, result.TRIALS)
    assert [each.number for each in trial.episodes] == [0, 1, 2]
    assert trial.seed == result.trial_seed(3)
    assert all(each.frames >= 0.2 * 3600 for each in trial.episodes)
    assert len({(each.decisions, each.frames, each.rooms) for each in trial.episodes}) > 1


def test_the_same_trial_in_one_process_has_the_same_episodes(evaluated, home, tmp_path):
    code, _, err = run(
        home,
        *("--episodes", "3", "--minutes", "0.2", "--workers", "0"),
        *("--out", str(tmp_path)),
    )
    assert (code, err) == (0, "")
    (apart,), (together,) = (
        result.read_all(tmp_path, result.TRIALS),
        result.read_all(home.folder, result.TRIALS),
    )
    assert apart.episodes == together.episodes


def test_random_play_replaces_the_policy(evaluated, home, tmp_path):
    code, out, err = run(
        home,
        *("--episodes", "3", "--minutes", "0.2", "--workers", "0"),
        *("--out", str(tmp_path), "--random"),
    )
    assert (code, err) == (0, "")
    assert json.loads(out.splitlines()[-1])["player"] == "random"
    (random,), (trained_one,) = (
        result.read_all(tmp_path, result.TRIALS),
        result.read_all(home.folder, result.TRIALS),
    )
    assert random.episodes != trained_one.episodes


def test_a_film_is_made_of_the_best_episode(home, tmp_path):
    path = tmp_path / f"{RUN}.mp4"  # in the folder that is given
    code, out, err = run(
        home,
        "--film",
        "--episodes",
        "2",
        "--minutes",
        "0.1",
        "--out",
        str(tmp_path),
        "--speed",
        "4",
    )
    assert (code, err) == (0, "")
    assert f"filmed episode {out.split('filmed episode ')[1][0]}: {path}" in out
    assert path.stat().st_size > 1000


def test_a_film_of_an_unknown_format_is_refused_before_anything_is_played(home, tmp_path):
    code, out, err = run(home, "--film", "--format", "webp", "--out", str(tmp_path / "best.gif"))
    assert (code, "episode" in out) == (2, False)
    assert "ends with .mp4 or .webp" in err


class Screen:
    """A window that counts its pictures; `quits_at` is the one after which its viewer leaves."""

    def __init__(self, quits_at=None):
        self.pictures, self.quits_at = 0, quits_at

    def show(self, picture):
        assert picture.shape == (144, 160, 3)
        self.pictures += 1

    def poll(self):
        return frozenset(), [Command.QUIT] if self.pictures == self.quits_at else []

    def hear(self, samples, rate): ...

    def say(self, text): ...

    def close(self): ...


def test_an_episode_is_shown_as_it_was_played_until_the_viewer_leaves(home):
    recorded = []
    Trial(home.folder, NOOK, seed=2**32, frames=360).play(
        [0],
        lambda episode, record: recorded.append((episode, record)),
        record=True,
    )
    ((episode, record),) = recorded
    assert record is not None
    whole: Any = Screen()
    part: Any = Screen(quits_at=5)
    cartridge = load_cartridge(NOOK)
    assert show(record, cartridge, whole, speed=0)
    assert whole.pictures >= episode.steps
    assert not show(record, cartridge, part, speed=0)
    assert part.pictures == 5


def test_a_policy_of_another_game_is_refused(home):
    code, _, err = run(home, RUN, rom=False)
    assert code == 2
    assert "was trained on another game" in err


def test_without_a_policy_the_message_names_the_command_that_creates_one(tmp_path):
    no_run = SimpleNamespace(data_dir=tmp_path)
    for options in ((), ("--show",), ("--film",)):
        code, _, err = run(no_run, "none", *options, rom=False)
        assert code == 2
        assert "make train-cartridge SEED=1" in err


def test_the_policy_that_comes_along_plays_the_embedded_game_to_its_end(tmp_path):
    """Without a run of one's own; its episodes are kept where runs are, not in the package."""
    no_run = SimpleNamespace(data_dir=tmp_path)
    code, out, err = run(
        no_run, *("--episodes", "4", "--minutes", "9", "--workers", "0"), rom=False
    )
    assert code == 0, err
    found = json.loads(out.splitlines()[-1])
    assert found["milestones_best"] == found["milestones_total"] == 24
    assert found["milestones_mean"] > 12  # random play reaches 1 in 17 minutes
    assert [path.parent for path in tmp_path.rglob("trained-*.json")] == [tmp_path / "trials"]
    assert not (policy.shipped() / "trials").exists()
