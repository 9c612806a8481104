"""Evaluation in the training process; export of policies and loading of exported ones."""

import json
import logging
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import TypeAdapter, ValidationError
from safetensors.numpy import load_file

from rlaif.game.machine.actions import Action
from rlaif.game.policy_input.layout import ALLOWED
from rlaif.service.settings import fields_of, flat_values, stored
from rlaif.trainer import checks
from rlaif.trainer.evaluation import policy, result
from rlaif.trainer.evaluation.player import EvaluationTask, Forward, play
from rlaif.trainer.evaluation.policy import PolicyError
from rlaif.trainer.evaluation.result import EvaluatedEpisode, Player
from rlaif.trainer.learner import saving
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, network_of
from rlaif.trainer.learner.networks.button_networks import module_logits
from rlaif.trainer.learner.networks.decision_layout import NEVER
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.learner.runners.pool import RunnerPool
from rlaif.trainer.learner.runners.runner import EmulatorRunner
from rlaif.trainer.play.zelda_env import OBSERVATION_SPACE, actions_of
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.checkpoints import Manifest
from rlaif.trainer.run_folder.plan import Plan
from rlaif.trainer.run_folder.protocol import (
    EvaluationDone,
    EvaluationFailed,
    EvaluationStarted,
    Finished,
    Started,
)
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import GameSettings
from rlaif.trainer.settings.learning import NetworkSettings

logger = logging.getLogger(__name__)

_PLAYS_BY = frozenset({*GameSettings.model_fields, *NetworkSettings.model_fields, "ppo"})
_PATHS = frozenset({"rom_path", "initial_state_path", "initial_state_paths"})
_PLAIN: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


def evaluate_if_due(run: RunContext, algorithm: ShapedPPO, plan: Plan, checkpoint: Path) -> None:
    """Evaluate after an epoch of a pipeline, including one that a killed process did not evaluate.

    `checkpoint` holds the policy of `algorithm`. Errors are reported, and training continues.
    """
    if plan.mode != "pipeline":
        return
    epoch = None
    try:
        done = result.read_all(run.directory)
        known = {each.epoch for each in done if each.epoch is not None}
        epoch = plan.evaluates(algorithm.env_steps, known)
        if epoch is None:
            return
        manifest = checkpoints.read_manifest(checkpoint)
        if not done:
            _evaluate(run, algorithm, manifest, checkpoint, epoch=None, player="random")
        _evaluate(run, algorithm, manifest, checkpoint, epoch=epoch)
    except Exception as error:
        logger.exception("the evaluation failed")
        run.send(EvaluationFailed(epoch=epoch, reason=f"{type(error).__name__}: {error}"))


def find_checkpoint(run: RunContext) -> Path:
    """Return the checkpoint of a run of mode `evaluation`; raises an error if it does not fit."""
    assert run.settings.checkpoint is not None  # checked before the start
    path = run.named_checkpoint(run.settings.checkpoint)
    checks.fits(checkpoints.read_manifest(path), run.rom_sha256, str(path))
    return path


def evaluate_only(run: RunContext, algorithm: ShapedPPO, path: Path) -> None:
    """Evaluate the checkpoint at `path` without training."""
    manifest = checkpoints.read_manifest(path)
    saving.restore_policy(algorithm, path)
    run.send(
        Started(
            env_steps=manifest.counters.env_steps,
            iteration=manifest.counters.iteration,
            restored_from=str(path),
        )
    )
    _evaluate(run, algorithm, manifest, path, epoch=None)
    run.send(Finished(why="evaluated"))


def _evaluate(
    run: RunContext,
    algorithm: ShapedPPO,
    manifest: Manifest,
    path: Path,
    *,
    epoch: int | None,
    player: Player = "trained",
) -> None:
    run.send(EvaluationStarted())
    settings, began = run.settings, time.monotonic()
    length, seed, greedy = settings.evaluation_length, settings.eval.seed, settings.eval.greedy
    task = EvaluationTask.of(run.environments(), length=length, seed=seed, greedy=greedy)
    episodes = play_on_runners(algorithm.runners, task, settings.eval.episodes, player)
    own, model = run.record, manifest.reward_model
    evaluation = result.evaluation_of(
        manifest,
        episodes,
        evaluation_id=_name(own, epoch, player),
        player=player,
        checkpoint=f"{manifest.run_id}/{path.name}",
        epoch=epoch,
        seconds=time.monotonic() - began,
        seed=seed,
        policy="greedy" if greedy else "sampled",
        episode_length=length,
        reward_model_version=model.version if model else None,
    )
    written = result.write(run.directory, evaluation)
    run.send(
        EvaluationDone(
            evaluation_id=evaluation.evaluation_id,
            epoch=epoch,
            iteration=evaluation.iteration,
            fraction_mean=evaluation.fraction_mean,
            return_mean=evaluation.return_mean,
            path=str(written),
            env_steps=evaluation.env_steps,
            player=player,
            episodes=len(episodes),
            milestones=result.iqm(evaluation.reached),
            interval=evaluation.milestones_interval or (0.0, 0.0),
        )
    )


def _name(run: RunRecord, epoch: int | None, player: Player) -> str:
    """An id of its own for each evaluation, also of a run of mode evaluation that is repeated."""
    if player == "random":
        return f"{run.run_id}-random"
    if epoch is not None:
        return f"{run.run_id}-e{epoch:04d}"
    return f"{run.run_id}-{run.attempts}" if run.attempts else run.run_id


def play_on_runners(
    runners: RunnerPool, task: EvaluationTask, count: int, player: Player = "trained"
) -> list[EvaluatedEpisode]:
    """Play `count` episodes on all runners with the current policy or at random; returns them.

    Raises:
        RuntimeError: A runner was lost.
    """
    players = len(runners.healthy)
    shares = [range(first, count, players) for first in range(players)]
    calls = [partial(_play_share, task, share, player) for share in shares]
    played: list[list[EvaluatedEpisode]] = runners.answers(
        runners.order_of(dict(zip(runners.healthy, calls, strict=True)))
    )
    episodes = sorted((each for part in played for each in part), key=lambda each: each.number)
    if [each.number for each in episodes] != list(range(count)):
        raise RuntimeError(f"{len(episodes)} of {count} episodes were played: a runner was lost")
    return episodes


def _play_share(
    task: EvaluationTask, numbers: range, player: Player, runner: EmulatorRunner
) -> list[EvaluatedEpisode]:
    own = replace(task, env=runner.files.environment(task.env))
    return play(own, numbers, random_policy if player == "random" else runner.policy.logits)


def export(run: RunContext, checkpoint: Path) -> Manifest:
    """Write the policy of a checkpoint, without its critic, to the run's policy folder.

    Raises:
        PolicyError: The policy does not choose from the actions `buttons`, `macros` or `options`.
        CheckpointError: The checkpoint does not exist.
    """
    manifest = checkpoints.read_manifest(checkpoint)
    saved = load_file(checkpoint / checkpoints.POLICY)
    weights = {name: saved[name] for name in _module(run.settings).state_dict()}
    values = flat_values(run.settings)
    kept = {name: values[name] for name in _names_kept() & values.keys() | {"seed"}}
    record = manifest.record.model_copy(
        update={"settings": _PLAIN.dump_json(kept).decode(), "provenance": None}
    )
    manifest = manifest.model_copy(update={"record": record, "reward_model": None})
    return policy.write(run.directory / policy.FOLDER, manifest, weights)


def settings_of(manifest: Manifest, rom_path: Path | None) -> TrainerSettings:
    """Return the settings of a policy's training on which play depends.

    Raises:
        PolicyError: A value is unknown to this version.
    """
    found = stored(TrainerSettings, json.loads(manifest.record.settings))
    kept = {name: found[name] for name in _names_kept() & found.keys()}
    try:
        return TrainerSettings.model_validate(kept | {"rom_path": rom_path})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise PolicyError(
            f"the policy of run {manifest.run_id} was trained with a setting unknown to this "
            f"version ({'.'.join(map(str, first['loc']))}: {first['msg']}): {policy.MAKE_ONE}"
        ) from error


def forward_of(folder: Path, settings: TrainerSettings) -> Forward:
    """Return the policy in a folder as a function for `rlaif.trainer.evaluation.player.play`.

    Raises:
        PolicyError: The files are missing or damaged, or contain another network.
    """
    manifest, arrays = policy.read(folder)
    module = _module(settings)
    try:
        module.load_state_dict(
            {name: torch.from_numpy(arrays[name]) for name in module.state_dict()}
        )
    except (RuntimeError, KeyError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise PolicyError(
            f"the policy of run {manifest.run_id} is another network ({reason}): {policy.MAKE_ONE}"
        ) from error
    return partial(module_logits, module.forward_inference)


def random_policy(
    rows: np.ndarray[Any, Any],
    policy_inputs: np.ndarray[Any, Any] | None = None,
    **_: object,
) -> np.ndarray[Any, Any]:
    """Return logits of a uniform choice among the allowed decisions, or among the eight buttons."""
    if policy_inputs is None:
        return np.zeros((len(rows), len(Action)), dtype=np.float32)
    allowed = policy_inputs[:, ALLOWED] > 0.5
    return np.where(allowed, 0.0, NEVER)


def _names_kept() -> set[str]:
    """Flat names of the settings on which play depends, without paths of the training machine."""
    return {
        each.name
        for each in fields_of(TrainerSettings)
        if each.path[0] in _PLAYS_BY and each.name not in _PATHS
    }


def _module(settings: TrainerSettings) -> Any:
    """The network of these settings without its critic, with initial weights."""
    if not settings.by_decisions:
        raise PolicyError(
            "only a policy with the actions buttons, macros or options can be exported and "
            "evaluated by itself: train with TRAINER_ACTIONS set to one of them, or use mode "
            "evaluation"
        )
    spec = network_of(settings)
    spec.observation_space, spec.action_space = OBSERVATION_SPACE, actions_of(settings.game)
    spec.inference_only = True
    return spec.build()
