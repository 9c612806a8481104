"""The training process: commands in, messages out, captures into the spool.

Started by the service as `python -m rlaif.trainer.learner.process RUN_FILE MESSAGE_FD`, apart from
it because Ray and the emulators would block its event loop.

Exit codes: 0 finished or stopped; 1 failed; 2 failed, and a retry would fail in the same way.
"""

import hashlib
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

import ray

from rlaif.reward_net.errors import RewardNetError
from rlaif.trainer import checks
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.evaluation import policy
from rlaif.trainer.evaluation.policy import PolicyError
from rlaif.trainer.learner import evaluating, quest
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.learner.algorithm.run_files import RunningArchiveServer
from rlaif.trainer.learner.algorithm.sampler import StopAskedError
from rlaif.trainer.learner.progress import RunTally, StepRate, course_report, report
from rlaif.trainer.learner.run_context import Requests, RunContext
from rlaif.trainer.learner.saving import CheckpointSaver
from rlaif.trainer.play.followers.episode_log import BestEpisodes
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.reward_models import read_reward_model
from rlaif.trainer.run_folder import checkpoints, disk, session
from rlaif.trainer.run_folder.npz_tree import NpzTreeError
from rlaif.trainer.run_folder.plan import End, Plan
from rlaif.trainer.run_folder.protocol import (
    COMMANDS,
    Command,
    Failed,
    Finished,
    GrantCaptures,
    LoadRewardModel,
    Message,
    PhaseReport,
    RewardModelLoaded,
    RewardModelRefused,
    Stop,
    WorldReport,
)
from rlaif.trainer.run_folder.quest_record import QuestRecordError
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.run_folder.spool import RoomPictures, Spool
from rlaif.trainer.search.tree import TreeError
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.run import is_learned

_FINAL = (
    checks.WrongSettingsError,
    checkpoints.CheckpointError,
    DemonstrationsError,
    QuestRecordError,
    TreeError,
)
"""Errors that a retry would repeat."""

_NICENESS = 5
"""Training yields to the services on its cores: a late heartbeat costs more than a step."""

_WORLD_SECONDS = 3.0
"""Minimum time between two reports of the world: some hundred rooms are 100 kB."""


class CommandHandler:
    """Executes commands on the algorithm and reports the reward model that results."""

    def __init__(self, run: RunContext, algorithm: ShapedPPO, requests: Requests) -> None:
        self._run = run
        self._algorithm = algorithm
        self._requests = requests

    def obey(self) -> bool:
        if self._requests.stop_asked():
            return False
        for command in self._requests.take():
            match command:
                case GrantCaptures(segments=segments):
                    self._algorithm.capture_quota = segments
                case LoadRewardModel():
                    self._load(command)
        if self._algorithm.rewards.models.swap_if_due() is not None:
            self.report_live_model()
        return True

    def load_given(self, path: Path) -> None:
        data, version = checks.read_reward_model(path)
        sha256 = hashlib.sha256(data).hexdigest()
        self._load(LoadRewardModel(version=version, path=str(path), sha256=sha256))

    def report_live_model(self) -> None:
        version = self._algorithm.rewards.version
        if version is not None:
            self._run.send(RewardModelLoaded(version=version, env_step=self._algorithm.env_steps))

    def report_refused_models(self) -> None:
        rewards = self._algorithm.rewards
        for model, reason in rewards.refused if self._algorithm.fragments else ():
            self._refuse(model.version, reason, rolled_back=True, counts=rewards.version)

    def _refuse(self, version: int, reason: str, **details: Any) -> None:
        self._run.send(RewardModelRefused(version=version, reason=reason, **details))

    def _load(self, command: LoadRewardModel) -> None:
        """Check a champion and offer it; `obey` makes it live when it is due."""
        models, version = self._algorithm.rewards.models, command.version
        if command.withdrawn is not None:
            if models.withdraw():
                self._refuse(
                    version, f"withdrawn: {command.withdrawn}", rolled_back=True, counts=None
                )
            return
        try:
            model = read_reward_model(Path(command.path), version=version, sha256=command.sha256)
        except Exception as error:
            # Any error in reading a file is the file's fault and must not end training.
            known = isinstance(error, RewardNetError)
            self._refuse(version, str(error) if known else f"{type(error).__name__}: {error}")
            return
        if model.sha256 in models.refused:
            reason = "not_finite: it gave NaN or infinity for what was played in this run before"
            self._refuse(version, reason)
        elif not models.offer(model):
            self.report_live_model()


class LearnerProcess:
    """The training loop of a run in this process: commands, iterations, captures, checkpoints.

    While `may_end` is set the process may be ended at once: everything is on disk.
    """

    def __init__(
        self, run: RunContext, commands: "SimpleQueue[Command]", may_end: threading.Event
    ) -> None:
        self._run = run
        self._requests = Requests(commands)
        self._may_end = may_end
        self._figures = RunTally()
        self._rate: StepRate | None = None
        self._world_reported = float("-inf")

    def prepare(self) -> bool:
        """Run the phases before training; False if a stop was requested.

        This needs no Ray, except for a cluster that the settings name.
        """
        if self._run.settings.mode != "quest":
            return True
        self._may_end.clear()
        ready = quest.prepare(self._run, self._requests)
        self._may_end.set()
        if ready is None:
            self._run.send(Finished(why="asked"))
            return False
        self._run = ready
        return True

    def run(self) -> None:
        """Train or evaluate until the end of the run or a stop request; after `prepare`."""
        run = self._run
        if run.settings.mode == "evaluation":
            path = evaluating.find_checkpoint(run)
            # With `resumes` no episode of training begins.
            evaluating.evaluate_only(run, _build(run, resumes=True), path)
            return
        Spool(run.directory / "spool").prepare()
        found = checkpoints.newest_usable(run.checkpoints)
        algorithm = _build(run, resumes=found is not None)
        saver = CheckpointSaver(run, algorithm, self._figures)
        saver.restore(found)
        algorithm.follow_demonstrations(is_new=found is None and run.settings.checkpoint is None)
        commands = CommandHandler(run, algorithm, self._requests)
        algorithm.sampler.stop_asked = self._requests.stop_asked
        commands.report_live_model()
        plan = run.plan(algorithm.env_steps)
        if run.settings.reward_model_path is not None and found is None:
            commands.load_given(run.settings.reward_model_path)
        why: End | None = None
        while why is None:
            if saver.is_saved:
                evaluating.evaluate_if_due(run, algorithm, plan, saver.checkpoint)
            self._may_end.clear()
            if not commands.obey():
                why = "asked"
            elif (why := self._end(algorithm, plan, saver)) is None:
                before = algorithm.env_steps
                try:
                    self._iterate(algorithm, plan, saver, commands)
                    saver.save_if_due(plan, before)
                except StopAskedError:
                    why = "asked"
            if saver.is_saved:
                self._may_end.set()
        why = saver.save_at_the_end(why, commands.obey)
        if run.settings.mode == "quest" and saver.is_saved:
            self._export(saver.checkpoint)
        run.send(Finished(why=why))

    def _end(self, algorithm: ShapedPPO, plan: Plan, saver: CheckpointSaver) -> End | None:
        """Why training ends now; None while it continues."""
        settings = self._run.settings
        if settings.mode == "quest" and is_learned(algorithm.course.whole):
            return "learned"
        return plan.end(algorithm.env_steps, saver.trained_seconds)

    def _export(self, checkpoint: Path) -> None:
        try:
            evaluating.export(self._run, checkpoint)
            words = f"written to {self._run.directory / policy.FOLDER}"
        except (OSError, PolicyError) as error:
            words = f"not written: {error}"
        self._run.send(PhaseReport(phase="policy", words=words))

    def _iterate(
        self, algorithm: ShapedPPO, plan: Plan, saver: CheckpointSaver, commands: CommandHandler
    ) -> None:
        settings, send = self._run.settings, self._run.send
        if self._rate is None:
            self._rate = StepRate(time.monotonic(), algorithm.env_steps)
        result = algorithm.train()
        saver.iteration += 1
        fragments = algorithm.fragments
        self._figures.add(fragments, algorithm.learned, env_steps=algorithm.env_steps)
        spool = Spool(self._run.directory / "spool", settings.capture.spool_captures)
        captured = [each for fragment in fragments for each in fragment.captures]
        for each in captured:
            self._figures.note_spooled(each.capture.selected_by, spool.offer(each))
        algorithm.capture_quota = max(0, algorithm.capture_quota - len(captured))
        lost = [each.not_written for each in fragments if each.not_written]
        lost += [*self._keep_best(fragments), *self._keep_world(fragments, algorithm.env_steps)]
        commands.report_refused_models()
        played = max((fragment.seconds for fragment in fragments), default=0.0)
        frames = sum(int(each.frames.sum()) for each in fragments if each.frames is not None)
        speed = self._rate.after(time.monotonic(), algorithm.env_steps, played, frames)
        trained = saver.trained_seconds
        send(
            report(
                saver.iteration,
                algorithm,
                self._figures,
                result,
                speed=speed,
                trained_seconds=trained,
                seconds_left=plan.seconds_left(
                    algorithm.env_steps, trained, speed.steps_per_second
                ),
                not_written=lost[0] if lost else None,
            )
        )
        if time.monotonic() - self._world_reported >= _WORLD_SECONDS:
            self._world_reported = time.monotonic()
            send(WorldReport(**dict(self._figures.world.figures())))
        if (course := algorithm.course).subtasks:
            send(course_report(course, settings.curriculum))

    def _keep_best(self, fragments: Sequence[Fragment]) -> Iterator[str]:
        """Keep the best episodes for films; yields errors of the disk, which cost only films."""
        best = BestEpisodes.of_run(self._run.directory, self._run.settings.capture.best_episodes)
        for fragment in fragments:
            try:
                best.add(fragment.best)
            except OSError as error:
                yield disk.why(error)

    def _keep_world(self, fragments: Sequence[Fragment], env_steps: int) -> Iterator[str]:
        """Add the rooms played and write pictures of new ones; yields errors of the disk."""
        world, folder = self._figures.world, RoomPictures.of_run(self._run.directory)
        played = [fragment.rooms for fragment in fragments if fragment.rooms is not None]
        world.add(played, env_steps)
        for rooms in played:
            for room, picture in rooms.pictures.items():
                if not world.wants(room):
                    continue
                try:
                    folder.keep(*room, picture.png)
                    world.keep(room, picture)
                except OSError as error:
                    yield disk.why(error)


def _build(run: RunContext, *, resumes: bool) -> ShapedPPO:
    explore, archive_server = run.exploration(), None
    if run.settings.ray_workers > 0 and not run.settings.ray_is_own:
        archive_server = RunningArchiveServer.start(explore)
        explore = archive_server.config
    algorithm = ShapedPPO(build_config(run.settings, run.environments(), explore, resumes=resumes))
    algorithm.archive_server = archive_server
    return algorithm


def _read_commands(
    stream: BinaryIO, commands: "SimpleQueue[Command]", may_end: threading.Event
) -> None:
    """Queue commands until the input ends, because the service has ended; then end as well.

    The service that replaces it starts a process of its own, and two must not train.
    """
    for line in stream:
        command = COMMANDS.validate_json(line)
        commands.put(command)
        if isinstance(command, Stop) and may_end.is_set():
            _end(0)
    _end(1)


def _end(code: int) -> None:
    """End at once, with Ray's processes that were started here: their shutdown would take 4 s."""
    if os.getsid(0) == os.getpid():
        session.end(os.getpid())
        session.remove_ray_folder()
    os._exit(code)


def _join_ray(settings: TrainerSettings) -> None:
    own = settings.ray_is_own
    ray.init(
        address="local" if own else settings.ray_address,
        num_cpus=settings.ray_workers + 1 if own else None,
        include_dashboard=False if own else None,
        log_to_driver=False,
        logging_level="ERROR",
    )
    # Job managers and systemd signal every process of a service; this one ends when the service
    # requests it. Set after Ray's own handler.
    signal.signal(signal.SIGTERM, lambda number, frame: None)


def main(arguments: list[str]) -> int:
    """Run the training process; returns its exit code."""
    run_file, message_fd = Path(arguments[0]), int(arguments[1])
    session.step_back(_NICENESS)
    # training.log may be on a full disk: a lost line must not end the run.
    sys.stdout, sys.stderr = disk.lossy_text(1), disk.lossy_text(2)
    warnings.simplefilter("ignore", DeprecationWarning)  # RLlib's own, on every start
    record = RunRecord.read(run_file)
    commands: SimpleQueue[Command] = SimpleQueue()
    may_end = threading.Event()
    may_end.set()
    # A file of its own: the thread still reads when the interpreter locks sys.stdin at its end.
    input_file = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    threading.Thread(
        target=_read_commands, args=(input_file, commands, may_end), name="commands", daemon=True
    ).start()
    with os.fdopen(message_fd, "wb") as messages:

        def send(message: Message) -> None:
            messages.write(message.line())
            messages.flush()

        settings = TrainerSettings.model_validate_json(record.settings)
        run = RunContext(settings, record, run_file.parent, send)
        try:
            checks.check_start(settings)
            learner = LearnerProcess(run, commands, may_end)
            if not settings.ray_is_own:
                _join_ray(settings)
            if learner.prepare():
                if settings.ray_is_own:
                    _join_ray(settings)
                learner.run()
        except _FINAL as error:
            send(Failed(reason=str(error), is_final=True))
            return 2
        except (NpzTreeError, RewardNetError) as error:
            send(Failed(reason=f"the checkpoint cannot be resumed: {error}", is_final=True))
            return 2
        except Exception as error:
            traceback.print_exc()
            of_disk = disk.why(error) if disk.is_disk_error(error) else None
            send(Failed(reason=f"{type(error).__name__}: {error}", of_disk=of_disk))
            return 1
        finally:
            if not settings.ray_is_own:
                ray.shutdown()
    return 0


if __name__ == "__main__":
    guard = session.guard()  # acts when its input ends, so the reference is kept
    _end(main(sys.argv[1:]))
