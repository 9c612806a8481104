"""The training process: commands in, messages out, captures into the spool.

Started by the service as `python -m rlaif.trainer.learner.process RUN_FILE MESSAGE_FD`. It shares
no memory with the service: Ray and the emulators would hold up its event loop.

Exit codes: 0 finished or stopped, 1 failed, 2 the settings are wrong and will stay so.
"""

import os
import signal
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO

import ray

from rlaif.reward_net.errors import RewardNetError
from rlaif.trainer import checks
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.evaluation import policy
from rlaif.trainer.evaluation.policy import PolicyError
from rlaif.trainer.learner import evaluating, quest_phases
from rlaif.trainer.learner.algorithm.demonstrated import IMITATION
from rlaif.trainer.learner.algorithm.keeping import RunningArchiveServer
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.learner.algorithm.sampler import StopAskedError
from rlaif.trainer.learner.commands import CommandHandler, Requests, queue_commands
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.learner.quest_search import QuestSearch, make_demonstrations
from rlaif.trainer.learner.report import StepRate, course_report, report
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.learner.saving import CheckpointSaver
from rlaif.trainer.play.followers.episode_log import BestEpisodes
from rlaif.trainer.run_folder import checkpoints, disk, session
from rlaif.trainer.run_folder.npz_tree import NpzTreeError
from rlaif.trainer.run_folder.plan import End, Plan
from rlaif.trainer.run_folder.protocol import (
    Command,
    Failed,
    Finished,
    Message,
    PhaseReport,
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
"""Trying again would fail in the same way."""

_NICENESS = 5
"""Training yields to the services on its cores: a late heartbeat costs more than a step."""

_WORLD_SECONDS = 3.0
"""Between two accounts of the world: some hundred rooms are 100 kB."""


class LearnerProcess:
    """The loop of one process's share of a run: obey, train, spool captures, report, save.

    While it `may_end` nothing is lost if the process ends at once: all that there is, is on disk.
    """

    def __init__(
        self, run: RunContext, commands: "SimpleQueue[Command]", may_end: threading.Event
    ) -> None:
        self._run = run
        self._requests = Requests(commands)
        self._may_end = may_end
        self._figures = RunTally()
        self._rate: StepRate | None = None
        self._world_told = float("-inf")

    def prepare(self) -> bool:
        """Run the phases before the loop; False when asked to stop there.

        Of Ray it needs only a cluster that the settings name, which has to be joined before.
        """
        run = self._run
        if run.settings.mode != "quest":
            return True
        self._may_end.clear()
        ready = quest_phases.prepare(run, self._requests, QuestSearch, make_demonstrations)
        self._may_end.set()
        if ready is None:
            run.send(Finished(why="asked"))
            return False
        self._run = ready
        return True

    def run(self) -> None:
        """Execute the run's mode until it is done or asked to stop; after `prepare`."""
        run = self._run
        if run.settings.mode == "evaluation":
            path = evaluating.find_checkpoint(run)
            # As if it resumed: no episode of training begins.
            evaluating.evaluate_only(run, _build(run, resumes=True), path)
            return
        Spool(run.directory / "spool").prepare()
        found = checkpoints.newest_usable(run.checkpoints)
        algorithm = _build(run, resumes=found is not None)
        saver = CheckpointSaver(run, algorithm, self._figures)
        saver.restore(found)
        is_new = found is None and run.settings.checkpoint is None
        if (imitated := algorithm.follow_demonstrations(is_new=is_new)) is not None:
            imitated.write(run.directory / IMITATION)
        commands = CommandHandler(run, algorithm, self._requests)
        algorithm.sampler.stop_asked = self._requests.stop_asked
        commands.tell_live_model()
        plan = run.plan(algorithm.env_steps)
        if run.settings.reward_model_path is not None and found is None:
            commands.load_given(run.settings.reward_model_path)
        why: End | None = None
        while why is None:
            if saver.is_saved:
                checkpoint = run.checkpoints / checkpoints.folder_name(saver.iteration)
                evaluating.evaluate_if_due(run, algorithm, plan, checkpoint)
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
            self._export(run.checkpoints / checkpoints.folder_name(saver.iteration))
        run.send(Finished(why=why))

    def _end(self, algorithm: ShapedPPO, plan: Plan, saver: CheckpointSaver) -> End | None:
        """Why training ends now; None while it continues."""
        settings = self._run.settings
        if settings.mode == "quest" and is_learned(algorithm.course.whole):
            return "learned"
        return plan.end(algorithm.env_steps, saver.trained_seconds)

    def _export(self, checkpoint: Path) -> None:
        """Export the policy and report failures; the checkpoint contains it anyway."""
        try:
            evaluating.export(self._run, checkpoint)
            words = f"written to {self._run.directory / policy.FOLDER}"
        except (OSError, PolicyError) as error:
            words = f"not written: {error}"
        self._run.send(PhaseReport(phase="policy", words=words))

    def _iterate(
        self, algorithm: ShapedPPO, plan: Plan, saver: CheckpointSaver, commands: CommandHandler
    ) -> None:
        spool = Spool(self._run.directory / "spool", self._run.settings.capture.spool_captures)
        if self._rate is None:
            self._rate = StepRate(time.monotonic(), algorithm.env_steps)
        result = algorithm.train()
        saver.iteration += 1
        self._figures.add(algorithm.fragments, algorithm.learned, env_steps=algorithm.env_steps)
        for fragment in algorithm.fragments:
            algorithm.capture_quota -= len(fragment.captures)
            for captured in fragment.captures:
                self._figures.note_spooled(captured.capture.selected_by, spool.offer(captured))
        algorithm.capture_quota = max(0, algorithm.capture_quota)
        not_kept = self._keep_best(algorithm)
        not_kept = self._keep_world(algorithm) or not_kept
        commands.tell_refused_models()
        played = max((fragment.seconds for fragment in algorithm.fragments), default=0.0)
        rate = self._rate.after(time.monotonic(), algorithm.env_steps, played)
        trained = saver.trained_seconds
        self._run.send(
            report(
                saver.iteration,
                algorithm,
                self._figures,
                result,
                steps_per_second=rate,
                trained_seconds=trained,
                seconds_left=plan.seconds_left(algorithm.env_steps, trained, rate),
                not_written=not_kept,
            )
        )
        if time.monotonic() - self._world_told >= _WORLD_SECONDS:
            self._world_told = time.monotonic()
            self._run.send(WorldReport(**dict(self._figures.world.figures())))
        if (course := algorithm.course).subtasks:
            self._run.send(course_report(course, self._run.settings.curriculum))

    def _keep_best(self, algorithm: ShapedPPO) -> str | None:
        """Put the best episodes where films are made from; a full disk costs films, not the run.

        Gives why the disk did not take all that the runners and this process found; None: it did.
        """
        best = BestEpisodes.of_run(self._run.directory, self._run.settings.capture.best_episodes)
        lost = [fragment.not_written for fragment in algorithm.fragments if fragment.not_written]
        for fragment in algorithm.fragments:
            try:
                best.add(fragment.best)
            except OSError as error:
                lost.append(disk.why(error))
        return lost[0] if lost else None

    def _keep_world(self, algorithm: ShapedPPO) -> str | None:
        world, lost = self._figures.world, None
        played = [fragment.rooms for fragment in algorithm.fragments if fragment.rooms is not None]
        world.add(played, algorithm.env_steps)
        folder = RoomPictures.of_run(self._run.directory)
        for rooms in played:
            for room, picture in rooms.pictures.items():
                if not world.wants(room):
                    continue
                try:
                    folder.keep(*room, picture.png)
                except OSError as error:
                    lost = disk.why(error)
                else:
                    world.keep(room, picture)
        return lost


def _build(run: RunContext, *, resumes: bool) -> ShapedPPO:
    """Learner and runners. Those of a run that resumes begin no episode of their own."""
    explore, archive_server = run.exploration(), None
    if run.settings.ray_workers > 0 and not run.settings.ray_is_own:
        archive_server = RunningArchiveServer.start(explore)
        explore = archive_server.config
    algorithm = ShapedPPO(build_config(run.settings, run.environments(), explore, resumes=resumes))
    algorithm.archive_server = archive_server
    return algorithm


def _obey_until_the_service_is_gone(
    stream: BinaryIO, commands: "SimpleQueue[Command]", may_end: threading.Event
) -> None:
    """The service that replaces a killed one starts a process of its own; two must not train."""

    def end_if_nothing_is_lost() -> None:
        if may_end.is_set():
            _end(0)

    queue_commands(stream, commands, end_if_nothing_is_lost)
    _end(1)


def _end(code: int) -> None:
    """End now, with all that was started here: Ray's servers, agents, runners.

    What is to stay is on disk. Ray's shutdown and the interpreter's take 4 s together.
    """
    if os.getsid(0) == os.getpid():
        session.end(os.getpid())
        session.remove_ray_folder()
    os._exit(code)


def _join_ray(settings: TrainerSettings) -> None:
    """Start a small local Ray, or join the cluster that the settings name."""
    own = settings.ray_is_own
    ray.init(
        address="local" if own else settings.ray_address,
        num_cpus=settings.ray_workers + 1 if own else None,
        include_dashboard=False if own else None,
        log_to_driver=False,
        logging_level="ERROR",
    )
    # Job managers and systemd signal every process of a service: this one ends when the service
    # asks. After Ray, which has a handler of its own.
    signal.signal(signal.SIGTERM, lambda number, frame: None)


def main(arguments: list[str]) -> int:
    """Run the training process; returns its exit code."""
    run_file, message_fd = Path(arguments[0]), int(arguments[1])
    session.step_back(_NICENESS)
    # training.log may be on a full disk: a line that is lost must not end the run.
    sys.stdout, sys.stderr = disk.lossy_text(1), disk.lossy_text(2)
    warnings.simplefilter("ignore", DeprecationWarning)  # RLlib's own, on every start
    record = RunRecord.read(run_file)
    commands: SimpleQueue[Command] = SimpleQueue()
    may_end = threading.Event()
    may_end.set()
    # A file of its own: the thread still reads when the interpreter, at its end, locks sys.stdin.
    input_file = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    threading.Thread(
        target=_obey_until_the_service_is_gone,
        args=(input_file, commands, may_end),
        name="commands",
        daemon=True,
    ).start()
    with os.fdopen(message_fd, "wb") as messages:

        def tell(message: Message) -> None:
            messages.write(message.line())
            messages.flush()

        settings = TrainerSettings.model_validate_json(record.settings)
        run = RunContext(settings, record, run_file.parent, tell)
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
            tell(Failed(reason=str(error), is_final=True))
            return 2
        except (NpzTreeError, RewardNetError) as error:
            tell(Failed(reason=f"the checkpoint cannot be resumed: {error}", is_final=True))
            return 2
        except Exception as error:
            traceback.print_exc()
            of_disk = disk.why(error) if disk.is_trouble(error) else None
            tell(Failed(reason=f"{type(error).__name__}: {error}", of_disk=of_disk))
            return 1
        finally:
            if not settings.ray_is_own:
                ray.shutdown()  # the cluster's part is not ours to kill
    return 0


if __name__ == "__main__":
    guard = session.guard()  # held: it acts when its input ends
    _end(main(sys.argv[1:]))
