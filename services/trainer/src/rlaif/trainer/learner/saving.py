"""Saving, retrying, deleting and restoring the checkpoints of a run.

With one environment runner, training is bit-for-bit the same with and without a restore.
"""

import logging
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ray.rllib.core import COMPONENT_LEARNER, COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.core.learner.learner import COMPONENT_OPTIMIZER
from ray.rllib.utils.metrics import WEIGHTS_SEQ_NO
from safetensors.numpy import load_file
from safetensors.numpy import save as serialized

from rlaif.trainer import checks
from rlaif.trainer.evaluation import result
from rlaif.trainer.learner.algorithm.ppo import SAMPLE_SECONDS, ShapedPPO
from rlaif.trainer.learner.networks.decision_module import ADDED
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.learner.runners.runner import EmulatorRunner, StopAskedError
from rlaif.trainer.run_folder import checkpoints, disk, npz_tree
from rlaif.trainer.run_folder.plan import End, Plan
from rlaif.trainer.run_folder.protocol import CheckpointNotSaved, CheckpointSaved, Started

logger = logging.getLogger(__name__)

_UNUSED = "exploration.tar"
"""File in checkpoints of release 0.1.0: states and visit counts."""

SAVE_AGAIN_SECONDS = 10.0
"""Minimum time between two attempts to save a checkpoint on a full disk."""

GAMES_SECONDS = 5.0
"""Time that a stopping run waits for the games to finish their fragments."""


class CheckpointSaver:
    """Resumes a run from its newest checkpoint and saves the next ones."""

    def __init__(self, run: RunContext, algorithm: ShapedPPO, figures: RunTally) -> None:
        self._run = run
        self._algorithm = algorithm
        self._figures = figures
        self.iteration = 0
        self._trained_before = 0.0
        self._began = time.monotonic()
        self._saved_iteration = -1
        self._saved_at_trained = 0.0
        self._failed_at: float | None = None
        self._patience: float | None = None

    @property
    def trained_seconds(self) -> float:
        return self._trained_before + time.monotonic() - self._began

    @property
    def is_saved(self) -> bool:
        return self._saved_iteration == self.iteration

    @property
    def checkpoint(self) -> Path:
        return self._run.checkpoints / checkpoints.folder_name(self.iteration)

    def restore(self, found: tuple[Path, list[str]] | None) -> None:
        """Resume from the result of `newest_usable`, or start with the policy of the settings.

        Raises:
            WrongSettingsError: The checkpoint does not fit the settings.
            NpzTreeError: A file of the checkpoint is damaged.
            RewardNetError: A reward model in it fails a check.
        """
        saved, passed_over = found or (None, [])
        run, algorithm = self._run, self._algorithm
        if saved is not None:
            manifest = checkpoints.read_manifest(saved)
            checks.fits(manifest, run.rom_sha256, saved.name)
            passed_over += restore(algorithm, self._figures, saved)
            self.iteration = self._saved_iteration = manifest.counters.iteration
            self._trained_before = manifest.counters.trained_seconds
            if _UNUSED in manifest.files:
                passed_over.append(
                    "exploration/ is from an older release and is not used; "
                    "policy, captures and rewards are resumed"
                )
        elif run.settings.checkpoint is not None:
            restore_policy(algorithm, run.named_checkpoint(run.settings.checkpoint))
        self._began = time.monotonic()
        self._saved_at_trained = self.trained_seconds
        run.send(
            Started(
                env_steps=algorithm.env_steps,
                iteration=self.iteration,
                restored_from=saved.name if saved is not None else None,
                trained_seconds=self._trained_before,
                passed_over=passed_over,
            )
        )

    def save_if_due(self, plan: Plan, steps_before: int) -> None:
        """Save after an iteration that began at `steps_before` if it is due.

        The first iteration is always saved, and so is the first one after a failure.
        """
        due = self._saved_iteration < 0 or plan.saves(
            steps_before,
            self._algorithm.env_steps,
            self.trained_seconds,
            self._saved_at_trained,
        )
        if due or self._failed_at is not None:
            self.try_to_save()

    def save_at_the_end(self, why: End, obey: Callable[[], bool]) -> End:
        """Save the last iteration; returns the actual reason why the run ends.

        If the disk is full, a finished run waits for space. A stopped run would be killed, so it
        does not wait and is later resumed from the previous checkpoint.
        """
        while not self.is_saved:
            self._patience = GAMES_SECONDS if why == "asked" else None
            try:
                if self.try_to_save() or why == "asked":
                    break
            except StopAskedError:
                why = "asked"
                continue
            if not obey():
                return "asked"
            time.sleep(1.0)
        return why

    def try_to_save(self) -> bool:
        """Save a checkpoint unless a disk error was recent; returns whether it was saved."""
        now = time.monotonic()
        if self._failed_at is not None and now - self._failed_at < SAVE_AGAIN_SECONDS:
            return False
        try:
            self._save()
        except OSError as error:
            checkpoints.drop_partial(self._run.checkpoints)  # it fills the disk
            self._failed_at = now
            self._run.send(CheckpointNotSaved(iteration=self.iteration, reason=disk.why(error)))
            return False
        self._failed_at = None
        return True

    def _save(self) -> None:
        run, algorithm = self._run, self._algorithm
        partial = checkpoints.begin(run.checkpoints, self.iteration)
        save(algorithm, self._figures, partial, self._patience)
        path, manifest = checkpoints.commit(partial, self._manifest())
        self._note_saved()
        run.send(
            CheckpointSaved(
                iteration=self.iteration, env_steps=algorithm.env_steps, path=str(path.resolve())
            )
        )
        try:
            self._tidy(manifest)
        except OSError:
            logger.exception("could not delete old checkpoints; retried after the next one")

    def _note_saved(self) -> None:
        self._saved_iteration, self._saved_at_trained = self.iteration, self.trained_seconds

    def _manifest(self) -> checkpoints.Manifest:
        run, live = self._run, self._algorithm.rewards.models.live
        return checkpoints.Manifest(
            run_id=run.record.run_id,
            attempt=run.record.attempts,
            created_at=datetime.now(UTC),
            counters=checkpoints.Counters(
                iteration=self.iteration,
                env_steps=self._algorithm.env_steps,
                trained_seconds=self.trained_seconds,
                episodes=self._figures.episodes,
                segments_captured=self._figures.segments_captured,
                segments_skipped=self._figures.segments_skipped,
            ),
            hidden=run.settings.hidden,
            policy="decisions" if run.settings.by_decisions else run.settings.policy,
            share_layers=run.settings.ppo.share_layers,
            normalize_values=run.settings.ppo.normalize_values,
            rom_sha256=run.rom_sha256,
            reward_model=checkpoints.RewardModelEntry(version=live.version, sha256=live.sha256)
            if live
            else None,
            record=run.record,
        )

    def _tidy(self, manifest: checkpoints.Manifest) -> None:
        run = self._run
        ended = run.plan(0).epochs_ended(manifest.counters.env_steps)
        if ended:
            checkpoints.write_epoch(run.directory, ended - 1, manifest)
        best = result.best(result.read_all(run.directory))
        checkpoints.prune(
            run.checkpoints,
            keep=run.settings.checkpoints_kept,
            protected={best.iteration} if best else (),
        )


def save(
    algorithm: ShapedPPO,
    figures: RunTally,
    directory: Path,
    patience: float | None = None,
) -> None:
    """Write policy, optimizer, generators, reward state and the runners' games into `directory`.

    The run's search is copied. If the games do not finish their fragments within `patience`
    seconds, they are omitted and begin new episodes when the run is resumed.

    Raises:
        StopAskedError: Without `patience`: a stop was requested while games are played.
    """
    learner = algorithm.learner_group.get_state()[COMPONENT_LEARNER]
    # `save_file` does not raise OSError on a full disk.
    weights = _plain(learner[COMPONENT_RL_MODULE][DEFAULT_MODULE_ID])
    # RLlib returns scalar tensors as numbers.
    policy = serialized({name: np.asarray(value) for name, value in weights.items()})
    (directory / checkpoints.POLICY).write_bytes(policy)
    npz_tree.write(
        directory / checkpoints.LEARNER,
        {
            "optimizer": {
                name: _plain(each["state"]["state"])
                for name, each in learner[COMPONENT_OPTIMIZER].items()
            },
            "weights_seq_no": learner[WEIGHTS_SEQ_NO],
            "algorithm": algorithm.state_dict(patience),
            "generators": _generators(),
            "figures": figures.state_dict(),
        },
    )
    # After `state_dict`, which waits for the runners.
    interrupted = algorithm.sampler.interrupted
    for saved in () if interrupted else algorithm.runners.ask(_state_of, SAMPLE_SECONDS):
        npz_tree.write(directory / f"runner-{saved['runner']}.npz", saved)
    live = algorithm.rewards.models.live
    if live is not None:
        (directory / checkpoints.REWARD_MODEL).write_bytes(live.data)
    search = algorithm.exploration.search
    if search is not None:
        search.copy(directory / checkpoints.SEARCH)


def restore(algorithm: ShapedPPO, figures: RunTally, directory: Path) -> list[str]:
    """Resume from the files of `save`; returns the reasons why runners begin new episodes.

    Raises:
        RewardNetError: A reward model fails a check.
        NpzTreeError: A file is damaged.
    """
    state = npz_tree.read(directory / checkpoints.LEARNER)
    _restore_learner(algorithm, directory, state)
    figures.load_state_dict(state["figures"])
    files = sorted(directory.glob("runner-*.npz"))
    saved = {each["runner"]: each for each in map(npz_tree.read, files)}
    answers = algorithm.runners.ask(partial(_resume_games, saved), SAMPLE_SECONDS)
    passed_over = [answer for answer in answers if answer is not None]
    if len(answers) < algorithm.runners.size:
        passed_over.append("a runner was lost; its games begin new episodes")
    lost = bool(passed_over) or set(saved) - set(algorithm.runners.numbers)
    algorithm.load_state_dict(state["algorithm"], games_resume=not lost)
    # Last, because building and restoring use these generators.
    _set_generators(state["generators"])
    return passed_over


def restore_policy(algorithm: ShapedPPO, directory: Path) -> None:
    """Restore the networks of a checkpoint only."""
    _restore_learner(algorithm, directory, None)


def _restore_learner(algorithm: ShapedPPO, directory: Path, state: dict[str, Any] | None) -> None:
    group = algorithm.learner_group
    built = group.get_state()[COMPONENT_LEARNER]
    added = {
        name: weight
        for name, weight in built[COMPONENT_RL_MODULE][DEFAULT_MODULE_ID].items()
        if name in ADDED
    }
    policy = added | load_file(directory / checkpoints.POLICY)
    learner: dict[str, Any] = {COMPONENT_RL_MODULE: {DEFAULT_MODULE_ID: policy}}
    if state is not None:
        current = built[COMPONENT_OPTIMIZER]
        # The learning rate is that of the settings; moments and step counts are restored.
        learner[COMPONENT_OPTIMIZER] = {
            name: {**each, "state": {**each["state"], "state": state["optimizer"][name]}}
            for name, each in current.items()
        }
        learner[WEIGHTS_SEQ_NO] = state["weights_seq_no"]
    group.set_state({COMPONENT_LEARNER: learner})
    algorithm.send_weights()


_state_of = methodcaller("state_dict")


def _resume_games(saved: dict[int, Any], runner: EmulatorRunner) -> str | None:
    index = runner.number
    if index not in saved:
        return f"runner {index}: games were not saved and begin new episodes"
    why = runner.load_state_dict(saved[index])
    return None if why is None else f"runner {index}: {why}"


def _plain(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _plain(value) for key, value in tree.items()}
    return tree.detach().cpu().numpy() if isinstance(tree, torch.Tensor) else tree


def _generators() -> dict[str, Any]:
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(),  # noqa: NPY002  # RLlib uses it for shuffling
        "torch": torch.get_rng_state().numpy(),
    }


def _set_generators(state: dict[str, Any]) -> None:
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])  # noqa: NPY002  # as above
    torch.set_rng_state(torch.from_numpy(state["torch"].copy()))
