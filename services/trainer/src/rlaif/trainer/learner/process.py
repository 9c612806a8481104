"""The training process: commands in, messages out, captures into the spool.

Started by the service as `python -m rlaif.trainer.learner.process RUN_FILE MESSAGE_FD`. It shares
no memory with the service: Ray and the emulators would hold up its event loop.

Exit codes: 0 finished or stopped, 1 failed, 2 the settings are wrong and will stay so.
"""

import contextlib
import hashlib
import logging
import os
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO

import ray

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.reward_net.errors import RewardNetError
from rlaif.trainer import checks
from rlaif.trainer.learner import snapshot
from rlaif.trainer.learner.evaluation import EvaluationTask, play_on_runners
from rlaif.trainer.learner.hot_load import read_reward_model
from rlaif.trainer.learner.ppo import ShapedPPO, build_config
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.learner.report import report
from rlaif.trainer.learner.step_rate import StepRate
from rlaif.trainer.learner.stock import StockPPO, build_stock_config
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.explorer import ExploreConfig
from rlaif.trainer.play.followers.best_episodes import BestEpisodes
from rlaif.trainer.run_folder import checkpoints, disk, epochs, evaluations, session
from rlaif.trainer.run_folder.evaluations import Evaluation
from rlaif.trainer.run_folder.npz_tree import NpzTreeError
from rlaif.trainer.run_folder.plan import End, Plan
from rlaif.trainer.run_folder.protocol import (
    COMMANDS,
    CheckpointNotSaved,
    CheckpointSaved,
    Command,
    EvaluationDone,
    EvaluationFailed,
    Failed,
    Finished,
    GrantCaptures,
    LoadRewardModel,
    Message,
    RewardModelLoaded,
    RewardModelRefused,
    Started,
    Stop,
)
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.run_folder.spool import Spool
from rlaif.trainer.settings import TrainerSettings

log = logging.getLogger(__name__)

_SAVE_AGAIN_SECONDS = 10.0
"""Between two tries to save a checkpoint on a disk that does not take it."""

_NICENESS = 5
"""Training yields to the services on its cores: a late heartbeat costs more than a step."""


@dataclass
class Training:
    """One process's share of a run."""

    settings: TrainerSettings
    record: RunRecord
    directory: Path
    commands: "SimpleQueue[Command]"
    messages: BinaryIO
    _figures: RunTally = field(default_factory=RunTally)
    _iteration: int = 0
    _trained_before: float = 0.0
    _began: float = field(default_factory=time.monotonic)
    _rate: StepRate | None = None
    _saved: tuple[int, float] = (-1, 0.0)
    _save_failed: float | None = None

    def run(self) -> None:
        """Do what the run's mode says, until it is done or told to stop."""
        if self.settings.mode == "evaluation":
            self._evaluate_only()
            return
        Spool(self.directory / "spool").prepare()
        found = checkpoints.newest_usable(self._checkpoints)
        algorithm = self._build(resumes=found is not None)
        self._restore(algorithm, found)
        plan = Plan.of(self.settings, algorithm.env_steps)
        if self.settings.reward_model_path is not None and found is None:
            self._load_given_reward_model(algorithm, self.settings.reward_model_path)
        why: End | None = None
        while why is None:
            self._evaluate_when_due(algorithm, plan)
            if not self._obey(algorithm):
                why = "asked"
            elif (why := plan.end(algorithm.env_steps, self._trained)) is None:
                self._iterate(algorithm, plan)
        self._tell(Finished(why=self._save_at_the_end(algorithm, why)))

    def _save_at_the_end(self, algorithm: ShapedPPO, why: End) -> End:
        """Save what is not saved yet. A run that ends by itself waits for the disk.

        One that was asked to stop does not: it would be killed. It resumes from the checkpoint
        before. Returns the end that it comes to.
        """
        while self._saved[0] != self._iteration and not self._try_to_save(algorithm):
            if why == "asked" or not self._obey(algorithm):
                return "asked"
            time.sleep(1.0)
        return why

    def _iterate(self, algorithm: ShapedPPO, plan: Plan) -> None:
        spool = Spool(self.directory / "spool", self.settings.spool_captures)
        before = algorithm.env_steps
        if self._rate is None:
            self._rate = StepRate(time.monotonic(), before)
        result = algorithm.train()
        self._iteration += 1
        self._figures.add(algorithm.fragments, algorithm.learned)
        for fragment in algorithm.fragments:
            algorithm.capture_quota -= len(fragment.captures)
            for captured in fragment.captures:
                self._figures.note_spooled(captured.capture.selected_by, spool.offer(captured))
        algorithm.capture_quota = max(0, algorithm.capture_quota)
        not_kept = self._keep_best(algorithm)
        self._tell_refused_models(algorithm)
        rate = self._rate.after(time.monotonic(), algorithm.env_steps)
        self._tell(
            report(
                self._iteration,
                algorithm,
                self._figures,
                result,
                steps_per_second=rate,
                trained_seconds=self._trained,
                seconds_left=plan.seconds_left(algorithm.env_steps, self._trained, rate),
                not_written=not_kept,
            )
        )
        due = plan.saves(before, algorithm.env_steps, self._trained - self._saved[1])
        if due or self._save_failed is not None:
            self._try_to_save(algorithm)

    def _keep_best(self, algorithm: ShapedPPO) -> str | None:
        """Put the best episodes where films are made from; a full disk costs films, not the run.

        Returns:
            Why the disk did not take all that the runners and this process found; None: it did.
        """
        shelf = BestEpisodes.of_run(self.directory, self.settings.best_episodes)
        lost = [fragment.not_written for fragment in algorithm.fragments if fragment.not_written]
        for fragment in algorithm.fragments:
            try:
                shelf.add(fragment.best)
            except OSError as error:
                lost.append(disk.why(error))
        return lost[0] if lost else None

    def _build(self, *, resumes: bool = False) -> ShapedPPO:
        explore = ExploreConfig(
            directory=self.directory,
            restarts=self.settings.explore_restarts,
            swarm=self.settings.explore_swarm,
            max_states=self.settings.explore_states,
        )
        if self.settings.sampler == "stock":
            return StockPPO(build_stock_config(self.settings, self._env_config()))
        return ShapedPPO(build_config(self.settings, self._env_config(), explore, resumes=resumes))

    def _env_config(self) -> EnvConfig:
        settings = self.settings
        return EnvConfig(
            run_id=self.record.run_id,
            attempt=self.record.attempts,
            rom_path=settings.rom_path,
            initial_state_paths=tuple(path for path, _ in settings.initial_states),
            initial_state_weights=tuple(weight for _, weight in settings.initial_states),
            frame_skip=settings.frame_skip,
            episode_length=settings.episode_length,
            reward_preset=settings.reward_preset,
            noop_start=settings.noop_start,
            walk_start=settings.walk_start,
            longest_wait_frames=settings.longest_wait_frames,
            segment_steps=settings.segment_steps,
            keyframe_steps=settings.keyframe_steps,
            uniform_share=settings.capture_uniform_share,
            best_episodes=settings.best_episodes,
            pictures=settings.policy == "cnn",
            screen_path=self.directory / "screen.rgb",
            watch_fps=settings.watch_fps,
        )

    @property
    def _checkpoints(self) -> Path:
        return self.directory / "checkpoints"

    @property
    def _trained(self) -> float:
        """Seconds in the training loop, over all attempts, as far as checkpoints count them."""
        return self._trained_before + time.monotonic() - self._began

    def _restore(self, algorithm: ShapedPPO, found: tuple[Path, list[str]] | None) -> None:
        """Resume from the run's newest checkpoint, or begin, with a policy if one is named."""
        saved, passed_over = found or (None, [])
        if saved is not None:
            manifest = checkpoints.read_manifest(saved)
            checks.fits(manifest, self.settings, self._rom_sha256(), saved.name)
            passed_over += snapshot.restore(algorithm, self._figures, saved)
            counters = manifest.counters
            self._iteration, self._trained_before = counters.iteration, counters.trained_seconds
        elif self.settings.checkpoint is not None:
            snapshot.restore_policy(algorithm, self._named_checkpoint(self.settings.checkpoint))
        self._began = time.monotonic()
        self._saved = (self._iteration if saved is not None else -1, self._trained)
        self._tell(
            Started(
                env_steps=algorithm.env_steps,
                iteration=self._iteration,
                restored_from=saved.name if saved is not None else None,
                trained_seconds=self._trained_before,
                passed_over=passed_over,
            )
        )
        self._tell_live_model(algorithm)

    def _try_to_save(self, algorithm: ShapedPPO) -> bool:
        """Save a checkpoint, or say why the disk does not take it; again some seconds later."""
        now, last = time.monotonic(), self._save_failed
        if last is not None and now - last < _SAVE_AGAIN_SECONDS:
            return False
        try:
            self._save(algorithm)
        except OSError as error:
            checkpoints.drop_partial(self._checkpoints)  # it fills the disk
            self._save_failed = now
            self._tell(CheckpointNotSaved(iteration=self._iteration, reason=disk.why(error)))
            return False
        self._save_failed = None
        return True

    def _save(self, algorithm: ShapedPPO) -> None:
        live = algorithm.rewards.models.live
        manifest = checkpoints.stamp(
            self.record,
            checkpoints.Counters(
                iteration=self._iteration,
                env_steps=algorithm.env_steps,
                trained_seconds=self._trained,
                episodes=self._figures.episodes,
                segments_captured=self._figures.segments_captured,
                segments_skipped=self._figures.segments_skipped,
            ),
            datetime.now(UTC),
            hidden=self.settings.hidden,
            policy=self.settings.policy,
            rom_sha256=self._rom_sha256(),
            reward_model=checkpoints.RewardModelEntry(version=live.version, sha256=live.sha256)
            if live
            else None,
        )
        partial = checkpoints.begin(self._checkpoints, self._iteration)
        snapshot.save(algorithm, self._figures, partial, self.directory)
        path, manifest = checkpoints.commit(partial, manifest)
        self._saved = (self._iteration, self._trained)
        self._tell(
            CheckpointSaved(
                iteration=self._iteration, env_steps=algorithm.env_steps, path=str(path.resolve())
            )
        )
        try:
            self._tidy(manifest)
        except OSError:
            log.exception("checkpoints were not tidied up; the next one tries again")

    def _tidy(self, manifest: checkpoints.Manifest) -> None:
        """Note the end of an epoch, delete old checkpoints."""
        ended = Plan.of(self.settings, 0).epochs_ended(manifest.counters.env_steps)
        if ended:
            epochs.note(self.directory, ended - 1, manifest)
        best = evaluations.best(evaluations.read_all(self.directory))
        checkpoints.prune(
            self._checkpoints,
            keep=self.settings.checkpoints_kept,
            protected={best.iteration} if best else (),
        )

    def _rom_sha256(self) -> str:
        return load_cartridge(self.settings.rom_path).sha256

    def _named_checkpoint(self, name: str) -> Path:
        return checkpoints.find(self.settings.data_dir.resolve(), name)

    def _evaluate_when_due(self, algorithm: ShapedPPO, plan: Plan) -> None:
        """After an epoch of a pipeline; also one that a killed process left undone."""
        if plan.mode != "pipeline" or self._saved[0] != self._iteration:
            return
        epoch = None
        path = self._checkpoints / checkpoints.folder_name(self._iteration)
        try:
            done = {each.epoch for each in evaluations.read_all(self.directory)}
            epoch = plan.evaluates(algorithm.env_steps, {n for n in done if n is not None})
            if epoch is None:
                return
            self._evaluate(algorithm, checkpoints.read_manifest(path), path, epoch=epoch)
        except Exception as error:
            log.exception("the evaluation failed")
            self._tell(EvaluationFailed(epoch=epoch, reason=_named(error)))

    def _evaluate_only(self) -> None:
        assert self.settings.checkpoint is not None  # checked before the start
        path = self._named_checkpoint(self.settings.checkpoint)
        manifest = checkpoints.read_manifest(path)
        checks.fits(manifest, self.settings, self._rom_sha256(), str(path))
        algorithm = self._build(resumes=True)  # no episode of training begins
        snapshot.restore_policy(algorithm, path)
        self._tell(
            Started(
                env_steps=manifest.counters.env_steps,
                iteration=manifest.counters.iteration,
                restored_from=str(path),
            )
        )
        self._evaluate(algorithm, manifest, path, epoch=None)
        self._tell(Finished(why="evaluated"))

    def _evaluate(
        self,
        algorithm: ShapedPPO,
        manifest: checkpoints.Manifest,
        path: Path,
        *,
        epoch: int | None,
    ) -> None:
        settings, began = self.settings, time.monotonic()
        task = EvaluationTask.of(
            self._env_config(),
            length=settings.eval_episode_length,
            seed=settings.eval_seed,
            greedy=settings.eval_greedy,
        )
        episodes = play_on_runners(algorithm.env_runner_group, task, settings.eval_episodes)
        own = self.record.run_id
        model = manifest.reward_model
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
            seed=settings.eval_seed,
            policy="greedy" if settings.eval_greedy else "sampled",
            episode_length=settings.eval_episode_length,
            reward_model_version=model.version if model else None,
            **evaluations.figures(episodes),
        )
        written = evaluations.write(self.directory, evaluation)
        self._tell(
            EvaluationDone(
                evaluation_id=evaluation.evaluation_id,
                epoch=epoch,
                iteration=evaluation.iteration,
                fraction_mean=evaluation.fraction_mean,
                return_mean=evaluation.return_mean,
                path=str(written),
            )
        )

    def _obey(self, algorithm: ShapedPPO) -> bool:
        """Carry out what has been asked for; False when it is time to stop.

        Between two fragments: one reward-model version shapes one fragment.
        """
        for command in self._asked():
            match command:
                case Stop():
                    return False
                case GrantCaptures(segments=segments):
                    algorithm.capture_quota = segments
                case LoadRewardModel():
                    self._load_reward_model(algorithm, command)
        if algorithm.rewards.models.swap_if_due() is not None:
            self._tell_live_model(algorithm)
        return True

    def _asked(self) -> Iterator[Command]:
        with contextlib.suppress(Empty):
            while True:
                yield self.commands.get_nowait()

    def _load_reward_model(self, algorithm: ShapedPPO, command: LoadRewardModel) -> None:
        """Check a champion and take it in line; `_obey` lets it count once it may."""
        try:
            model = read_reward_model(
                Path(command.path), version=command.version, sha256=command.sha256
            )
        except Exception as error:
            # Whatever a file does to its reader is a fault of the file, and no end of training.
            reason = str(error) if isinstance(error, RewardNetError) else _named(error)
            self._tell(RewardModelRefused(version=command.version, reason=reason))
            return
        if model.sha256 in algorithm.rewards.models.refused:
            reason = "not_finite: it gave NaN or infinity for what was played in this run before"
            self._tell(RewardModelRefused(version=command.version, reason=reason))
        elif not algorithm.rewards.models.offer(model):
            self._tell_live_model(algorithm)

    def _tell_refused_models(self, algorithm: ShapedPPO) -> None:
        """Those that answered nonsense in the iteration, and which one counts instead."""
        for model, reason in algorithm.rewards.refused if algorithm.fragments else ():
            self._tell(
                RewardModelRefused(
                    version=model.version,
                    reason=reason,
                    rolled_back=True,
                    counts=algorithm.rewards.version,
                )
            )

    def _load_given_reward_model(self, algorithm: ShapedPPO, path: Path) -> None:
        """Begin with the reward model that the settings name."""
        data, version = checks.read_reward_model(path)
        sha256 = hashlib.sha256(data).hexdigest()
        self._load_reward_model(
            algorithm, LoadRewardModel(version=version, path=str(path), sha256=sha256)
        )

    def _tell_live_model(self, algorithm: ShapedPPO) -> None:
        version = algorithm.rewards.version
        if version is not None:
            self._tell(RewardModelLoaded(version=version, env_step=algorithm.env_steps))

    def _tell(self, message: Message) -> None:
        self.messages.write(message.line())
        self.messages.flush()


def _listen(stream: BinaryIO, commands: "SimpleQueue[Command]") -> None:
    """Queue what comes in. The input ends when the service was killed: then end at once.

    The service that replaces it starts a process of its own; two must not train one run.
    """
    for line in stream:
        commands.put(COMMANDS.validate_json(line))
    _end(1)


def _end(code: int) -> None:
    """End now, with all that was started here: Ray's servers, agents, runners.

    What is to stay is on disk. Ray's shutdown and the interpreter's take 4 s together.
    """
    if os.getsid(0) == os.getpid():
        session.end(os.getpid())
    os._exit(code)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _join_ray(settings: TrainerSettings) -> None:
    """Start a small Ray of the run's own, or join the cluster that the settings name."""
    own = settings.own_ray
    ray.init(
        address="local" if own else settings.ray_address,
        num_cpus=settings.ray_workers + 1 if own else None,
        include_dashboard=False if own else None,
        log_to_driver=False,
        logging_level="ERROR",
    )


def main(arguments: list[str]) -> int:
    """Run the training process; returns its exit code."""
    run_file, message_fd = Path(arguments[0]), int(arguments[1])
    os.nice(_NICENESS)
    # training.log may be on a full disk: a line that is lost must not end the run.
    sys.stdout, sys.stderr = disk.lossy_text(1), disk.lossy_text(2)
    warnings.simplefilter("ignore", DeprecationWarning)  # RLlib's own, on every start
    record = RunRecord.read(run_file)
    commands: SimpleQueue[Command] = SimpleQueue()
    # A file of its own: the thread still reads when the interpreter, at its end, locks sys.stdin.
    input_file = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    threading.Thread(
        target=_listen, args=(input_file, commands), name="commands", daemon=True
    ).start()
    with os.fdopen(message_fd, "wb") as messages:
        settings = TrainerSettings.model_validate_json(record.settings)
        training = Training(settings, record, run_file.parent, commands, messages)
        try:
            checks.check_start(settings)
            _join_ray(settings)
            training.run()
        except (checks.WrongSettingsError, checkpoints.CheckpointError) as error:
            messages.write(Failed(reason=str(error), is_final=True).line())
            return 2
        except (NpzTreeError, RewardNetError) as error:
            reason = f"the checkpoint cannot be resumed: {error}"
            messages.write(Failed(reason=reason, is_final=True).line())
            return 2
        except Exception as error:
            traceback.print_exc()
            of_disk = disk.why(error) if disk.is_trouble(error) else None
            messages.write(Failed(reason=_named(error), of_disk=of_disk).line())
            return 1
        finally:
            if not settings.own_ray:
                ray.shutdown()  # the cluster's part is not ours to kill
    return 0


if __name__ == "__main__":
    guard = session.guard()  # held: it acts when its input ends
    _end(main(sys.argv[1:]))
