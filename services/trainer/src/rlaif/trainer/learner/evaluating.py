"""When a policy is evaluated, and what is written of it; `evaluation_games` plays the episodes."""

import logging
import time
from datetime import UTC, datetime
from pathlib import Path

from rlaif.trainer import checks
from rlaif.trainer.learner import snapshot
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO
from rlaif.trainer.learner.evaluation_games import EvaluationTask, play_on_runners
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.run_folder import checkpoints, evaluations
from rlaif.trainer.run_folder.evaluations import Evaluation
from rlaif.trainer.run_folder.plan import Plan
from rlaif.trainer.run_folder.protocol import EvaluationDone, EvaluationFailed, Finished, Started

log = logging.getLogger(__name__)


def evaluate_if_due(run: RunContext, algorithm: ShapedPPO, plan: Plan, checkpoint: Path) -> None:
    """After an epoch of a pipeline; also one that a killed process left undone.

    `checkpoint` holds the policy of `algorithm`. What goes wrong is told, and training continues.
    """
    if plan.mode != "pipeline":
        return
    epoch = None
    try:
        done = {each.epoch for each in evaluations.read_all(run.directory)}
        epoch = plan.evaluates(algorithm.env_steps, {n for n in done if n is not None})
        if epoch is None:
            return
        manifest = checkpoints.read_manifest(checkpoint)
        _evaluate(run, algorithm, manifest, checkpoint, epoch=epoch)
    except Exception as error:
        log.exception("the evaluation failed")
        run.tell(EvaluationFailed(epoch=epoch, reason=f"{type(error).__name__}: {error}"))


def find_checkpoint(run: RunContext) -> Path:
    """The checkpoint that an evaluation alone is of; raises unless it fits the settings."""
    assert run.settings.run.checkpoint is not None  # checked before the start
    path = run.named_checkpoint(run.settings.run.checkpoint)
    checks.fits(checkpoints.read_manifest(path), run.rom_sha256, str(path))
    return path


def evaluate_only(run: RunContext, algorithm: ShapedPPO, path: Path) -> None:
    """Evaluate the checkpoint at `path` and train nothing."""
    manifest = checkpoints.read_manifest(path)
    snapshot.restore_policy(algorithm, path)
    run.tell(
        Started(
            env_steps=manifest.counters.env_steps,
            iteration=manifest.counters.iteration,
            restored_from=str(path),
        )
    )
    _evaluate(run, algorithm, manifest, path, epoch=None)
    run.tell(Finished(why="evaluated"))


def _evaluate(
    run: RunContext,
    algorithm: ShapedPPO,
    manifest: checkpoints.Manifest,
    path: Path,
    *,
    epoch: int | None,
) -> None:
    settings, began = run.settings, time.monotonic()
    task = EvaluationTask.of(
        run.environments(),
        length=settings.evaluation_length,
        seed=settings.evaluation.seed,
        greedy=settings.evaluation.greedy,
    )
    episodes = play_on_runners(algorithm.env_runner_group, task, settings.evaluation.episodes)
    own, model = run.record.run_id, manifest.reward_model
    evaluation = Evaluation(
        evaluation_id=f"{own}-e{epoch:04d}" if epoch is not None else own,
        run_id=manifest.run_id,
        checkpoint=f"{manifest.run_id}/{path.name}",
        iteration=manifest.counters.iteration,
        env_steps=manifest.counters.env_steps,
        epoch=epoch,
        created_at=datetime.now(UTC),
        seconds=time.monotonic() - began,
        rom_sha256=manifest.rom_sha256,
        seed=settings.evaluation.seed,
        policy="greedy" if settings.evaluation.greedy else "sampled",
        episode_length=settings.evaluation_length,
        reward_model_version=model.version if model else None,
        **evaluations.figures(episodes),
    )
    written = evaluations.write(run.directory, evaluation)
    run.tell(
        EvaluationDone(
            evaluation_id=evaluation.evaluation_id,
            epoch=epoch,
            iteration=evaluation.iteration,
            fraction_mean=evaluation.fraction_mean,
            return_mean=evaluation.return_mean,
            path=str(written),
        )
    )
