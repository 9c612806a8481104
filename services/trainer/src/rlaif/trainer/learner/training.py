"""The training loop of a run."""

import hashlib
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.reward_net.errors import RewardNetError
from rlaif.trainer import checks
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.evaluation import policy
from rlaif.trainer.evaluation.policy import PolicyError
from rlaif.trainer.learner import evaluating
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, config_of
from rlaif.trainer.learner.building import DemonstrationBuild
from rlaif.trainer.learner.progress import RunTally, StepRate, course_report, report
from rlaif.trainer.learner.run_context import Requests, RunContext
from rlaif.trainer.learner.runners.runner import StopAskedError
from rlaif.trainer.learner.saving import CheckpointSaver
from rlaif.trainer.learner.start import Start
from rlaif.trainer.play.followers.episode_log import BestEpisodes
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.reward_models import read_reward_model
from rlaif.trainer.run_folder import disk
from rlaif.trainer.run_folder.plan import End, Plan
from rlaif.trainer.run_folder.protocol import (
    Finished,
    GrantCaptures,
    LoadRewardModel,
    PhaseReport,
    RewardModelLoaded,
    RewardModelRefused,
    WorldReport,
)
from rlaif.trainer.run_folder.quest_record import DEMONSTRATIONS_FOLDER, SEARCH_FOLDER
from rlaif.trainer.run_folder.spool import RoomPictures, Spool
from rlaif.trainer.search.opening import open_search
from rlaif.trainer.search.search import Search, SearchSettings
from rlaif.trainer.settings.run import is_learned

logger = logging.getLogger(__name__)

TRIAL_STEPS = 20_000
"""Limit for the minimization of a part during training; takes some seconds."""

_WORLD_SECONDS = 3.0
"""Minimum time between two reports of the world: a few hundred rooms are 100 kB."""


class CommandHandler:
    """Executes commands on the algorithm and reports changes of the reward model."""

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
        """Check a champion and schedule it; `obey` makes it live when it is due."""
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
            # Any error is attributed to the file and must not end training.
            known = isinstance(error, RewardNetError)
            self._refuse(version, str(error) if known else f"{type(error).__name__}: {error}")
            return
        if model.sha256 in models.refused:
            reason = "not_finite: its output was NaN or infinite earlier in this run"
            self._refuse(version, reason)
        elif not models.offer(model):
            self.report_live_model()


class Training:
    """The training loop of a run: commands, iterations, captures, checkpoints.

    While `may_end` is set, the process may be killed: everything is on disk.
    """

    def __init__(
        self, run: RunContext, requests: Requests, may_end: threading.Event, start: Start
    ) -> None:
        self._run = run
        self._requests = requests
        self._may_end = may_end
        self._start = start
        self._figures = RunTally()
        self._rate: StepRate | None = None
        self._world_reported = float("-inf")
        self._build: DemonstrationBuild | None = None
        self._built_level = 0.0
        self._not_built: str | None = None

    def run(self) -> None:
        """Train or evaluate until the end of the run or a stop request."""
        run, found = self._run, self._start.found
        evaluates = run.settings.mode == "evaluation"
        evaluated = evaluating.find_checkpoint(run) if evaluates else None
        config = config_of(run.settings, self._start.config)
        algorithm = ShapedPPO(config, self._start.runners)
        if evaluated is not None:
            evaluating.evaluate_only(run, algorithm, evaluated)
            return
        Spool(run.directory / "spool").prepare()
        saver = CheckpointSaver(run, algorithm, self._figures)
        saver.restore(found)
        if self._start.config.exploring:
            algorithm.exploration.open(self._open_search)
        algorithm.follow_demonstrations(is_new=found is None and run.settings.checkpoint is None)
        commands = CommandHandler(run, algorithm, self._requests)
        algorithm.sampler.stop_asked = self._requests.stop_asked
        commands.report_live_model()
        plan = run.plan(algorithm.env_steps)
        if run.settings.reward_model_path is not None and found is None:
            commands.load_given(run.settings.reward_model_path)
        why: End | None = None
        while why is None:
            self._build_curriculum(algorithm)
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
        algorithm.exploration.close()
        if self._build is not None:
            self._build.stop()
        if run.settings.mode == "quest" and saver.is_saved:
            self._export(saver.checkpoint)
        run.send(Finished(why=why))

    def _build_curriculum(self, algorithm: ShapedPPO) -> None:
        """Use demonstrations that were built, and build new ones after progress of the search."""
        search, settings = algorithm.exploration.search, self._run.settings
        if search is None or settings.curriculum.path is not None:
            return
        if self._build is not None and self._build.is_over:
            self._not_built = None
            try:
                list(self._build.lines())
                self._build.check()
                path = self._run.directory / DEMONSTRATIONS_FOLDER
                algorithm.follow_demonstrations(path, is_new=False)
            except DemonstrationsError as error:
                logger.warning("no new demonstrations; the curriculum is unchanged: %s", error)
            except RuntimeError as error:
                logger.exception("no new demonstrations; the curriculum is unchanged")
                self._not_built = str(error)
            self._build.stop()
            self._build = None
        if self._build is None and search.figures.level >= self._built_level + 1:
            self._built_level = search.figures.level
            self._build = DemonstrationBuild(
                settings,
                self._run.directory,
                count=1,
                processes=0,
                max_trial_steps=TRIAL_STEPS,
            )

    def _open_search(self) -> Search:
        settings = self._run.settings
        folder = self._run.directory / SEARCH_FOLDER
        cartridge = load_cartridge(settings.rom_path)
        return open_search(folder, cartridge, SearchSettings(seed=settings.seed))

    def _end(self, algorithm: ShapedPPO, plan: Plan, saver: CheckpointSaver) -> End | None:
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
        not_written = algorithm.exploration.not_written
        lost = [] if not_written is None else [not_written]
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
                not_built=self._not_built,
            )
        )
        if time.monotonic() - self._world_reported >= _WORLD_SECONDS:
            self._world_reported = time.monotonic()
            send(WorldReport(**dict(self._figures.world.figures())))
        self._report_course(algorithm)

    def _report_course(self, algorithm: ShapedPPO) -> None:
        # The shares that the runners play: an exploring run's are not those of its settings.
        curriculum = self._start.config.curriculum
        if curriculum is not None and (course := algorithm.course).subtasks:
            self._run.send(course_report(course, curriculum))

    def _keep_best(self, fragments: Sequence[Fragment]) -> Iterator[str]:
        """Keep the best episodes for films; yields disk errors, which affect only the films."""
        best = BestEpisodes.of_run(self._run.directory, self._run.settings.capture.best_episodes)
        for fragment in fragments:
            try:
                best.add(fragment.best)
            except OSError as error:
                yield disk.why(error)

    def _keep_world(self, fragments: Sequence[Fragment], env_steps: int) -> Iterator[str]:
        """Add the rooms played and write pictures of new ones; yields disk errors."""
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
