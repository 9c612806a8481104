"""A run on disk: where it resumes, when it saves, and what it does when the disk is full."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from rlaif.trainer import checks
from rlaif.trainer.evaluation import result
from rlaif.trainer.learner import snapshot
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO
from rlaif.trainer.learner.algorithm.sampler import StopAskedError
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.run_folder import checkpoints, disk
from rlaif.trainer.run_folder.plan import End, Plan
from rlaif.trainer.run_folder.protocol import CheckpointNotSaved, CheckpointSaved, Started

log = logging.getLogger(__name__)

SAVE_AGAIN_SECONDS = 10.0
"""Between two tries to save a checkpoint on a disk that does not take it."""

GAMES_SECONDS = 5.0
"""That a run which is stopping gives the games to reach the end of their fragments."""


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

    def restore(self, found: tuple[Path, list[str]] | None) -> None:
        """Resume from what `newest_usable` gave, or begin, with a policy if one is named.

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
            passed_over += snapshot.restore(algorithm, self._figures, saved)
            self.iteration = self._saved_iteration = manifest.counters.iteration
            self._trained_before = manifest.counters.trained_seconds
        elif run.settings.checkpoint is not None:
            snapshot.restore_policy(algorithm, run.named_checkpoint(run.settings.checkpoint))
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
        """Save after an iteration that began at `steps_before`, or try again what failed.

        The first iteration of a run is saved: from then on there is something to resume.
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
        """Save what is not saved yet; gives the end that it comes to.

        A run that ends by itself waits for the disk. One that was asked to stop does not: it would
        be killed. It resumes from the checkpoint before.
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
        """Save a checkpoint, or say why the disk does not take it; again some seconds later."""
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
        snapshot.save(algorithm, self._figures, partial, run.directory, self._patience)
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
            log.exception("checkpoints were not tidied up; the next one tries again")

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
