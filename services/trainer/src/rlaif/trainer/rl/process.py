"""The training process: commands in, messages out, captures into the spool.

Started by the service as `python -m rlaif.trainer.rl.process RUN_FILE MESSAGE_FD`. It shares no
memory with the service: Ray and the emulators would hold up its event loop.
"""

import contextlib
import math
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO

import ray

from rlaif.contracts.observation import LAYOUT_VERSION
from rlaif.reward_net.artifact import load
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.potential import PotentialFunction
from rlaif.trainer.env.config import EnvConfig
from rlaif.trainer.exploration.explorer import ExploreConfig
from rlaif.trainer.rl.ppo import ShapedPPO, build_config
from rlaif.trainer.rl.progress import RunFigures
from rlaif.trainer.runs import checkpoints
from rlaif.trainer.runs.protocol import (
    COMMANDS,
    CheckpointSaved,
    Command,
    Failed,
    GrantCaptures,
    IterationDone,
    LoadRewardModel,
    Message,
    RewardModelLoaded,
    RewardModelRefused,
    Started,
    Stop,
)
from rlaif.trainer.runs.record import RunRecord
from rlaif.trainer.runs.spool import Spool
from rlaif.trainer.settings import TrainerSettings

_LEARNER_FIGURES = ("policy_loss", "vf_loss", "entropy", "vf_explained_var", "total_loss")


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

    def run(self) -> None:
        """Train until told to stop, or until the run's time is over."""
        spool = Spool(self.directory / "spool")
        spool.prepare()
        algorithm = ShapedPPO(
            build_config(self.settings, self._env_config(), self._explore_config())
        )
        figures = RunFigures()
        counters = self._restore(algorithm, figures)
        deadline = self.record.created_at.timestamp() + self.settings.run_hours * 3600
        last_saved = counters.env_steps
        iteration = counters.iteration
        while self._obey(algorithm) and time.time() < deadline:
            began = time.monotonic()
            before = algorithm.env_steps
            result = algorithm.train()
            iteration += 1
            figures.add(algorithm.fragments, algorithm.shaping)
            for fragment in algorithm.fragments:
                algorithm.capture_quota -= len(fragment.captures)
                for captured in fragment.captures:
                    spool.write(captured)
            algorithm.capture_quota = max(0, algorithm.capture_quota)
            rate = (algorithm.env_steps - before) / (time.monotonic() - began)
            self._tell(_report(iteration, algorithm, figures, rate, result))
            if algorithm.env_steps - last_saved >= self.settings.epoch_steps:
                self._save(algorithm, iteration, figures)
                last_saved = algorithm.env_steps
        self._save(algorithm, iteration, figures)
        algorithm.stop()

    def _env_config(self) -> EnvConfig:
        settings = self.settings
        return EnvConfig(
            run_id=self.record.run_id,
            attempt=self.record.attempts,
            rom_path=settings.rom_path,
            initial_state_path=settings.initial_state_path,
            frame_skip=settings.frame_skip,
            episode_length=settings.episode_length,
            reward_preset=settings.reward_preset,
            noop_start=settings.noop_start,
            segment_steps=settings.segment_steps,
            keyframe_steps=settings.keyframe_steps,
            shaping_weight=settings.shaping_weight,
            screen_path=self.directory / "screen.rgb",
            watch_fps=settings.watch_fps,
        )

    def _explore_config(self) -> ExploreConfig:
        return ExploreConfig(
            directory=self.directory,
            restarts=self.settings.explore_restarts,
            swarm=self.settings.explore_swarm,
            max_states=self.settings.explore_states,
        )

    def _restore(self, algorithm: ShapedPPO, figures: RunFigures) -> checkpoints.Counters:
        counters = checkpoints.Counters()
        saved = checkpoints.whole(self.directory / "checkpoints")
        if saved:
            algorithm.restore_from_path(str(saved[-1].resolve()))
            counters = checkpoints.read_counters(saved[-1])
            algorithm.env_steps = counters.env_steps
            figures.episodes = counters.episodes
            figures.segments_captured = counters.segments_captured
            figures.segments_skipped = counters.segments_skipped
        self._tell(
            Started(
                env_steps=counters.env_steps,
                iteration=counters.iteration,
                restored_from=saved[-1].name if saved else None,
            )
        )
        return counters

    def _save(self, algorithm: ShapedPPO, iteration: int, figures: RunFigures) -> None:
        counters = checkpoints.Counters(
            iteration=iteration,
            env_steps=algorithm.env_steps,
            episodes=figures.episodes,
            segments_captured=figures.segments_captured,
            segments_skipped=figures.segments_skipped,
        )
        partial = checkpoints.begin(self.directory / "checkpoints", iteration)
        algorithm.save_to_path(str(partial.resolve()))
        path = checkpoints.commit(partial, counters)
        self._tell(
            CheckpointSaved(
                iteration=iteration, env_steps=algorithm.env_steps, path=str(path.resolve())
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
        return True

    def _asked(self) -> Iterator[Command]:
        with contextlib.suppress(Empty):
            while True:
                yield self.commands.get_nowait()

    def _load_reward_model(self, algorithm: ShapedPPO, command: LoadRewardModel) -> None:
        try:
            loaded = load(
                Path(command.path).read_bytes(),
                sha256=command.sha256,
                layout_version=LAYOUT_VERSION,
            )
        except (RewardNetError, OSError) as error:
            self._tell(RewardModelRefused(version=command.version, reason=str(error)))
            return
        algorithm.potential = PotentialFunction(loaded.net)
        algorithm.reward_model_version = command.version
        self._tell(RewardModelLoaded(version=command.version, env_step=algorithm.env_steps))

    def _tell(self, message: Message) -> None:
        self.messages.write(message.line())
        self.messages.flush()


def _report(
    iteration: int,
    algorithm: ShapedPPO,
    figures: RunFigures,
    rate: float,
    result: dict[str, object],
) -> IterationDone:
    learners = result.get("learners")
    module = learners.get("default_policy", {}) if isinstance(learners, dict) else {}
    return IterationDone(
        iteration=iteration,
        env_steps=algorithm.env_steps,
        episodes=figures.episodes,
        steps_per_second=rate,
        episode_return_mean=figures.return_mean,
        shaped_return_mean=figures.shaped_mean,
        episode_length_mean=figures.length_mean,
        rooms_mean=figures.rooms_mean,
        segments_captured=figures.segments_captured,
        segments_skipped=figures.segments_skipped,
        reward_parts=figures.reward_parts,
        learner={
            name: float(module[name])
            for name in _LEARNER_FIGURES
            if name in module and math.isfinite(module[name])
        },
    )


def _listen(stream: BinaryIO, commands: "SimpleQueue[Command]") -> None:
    """Queue what comes in. The input ends when the service was killed: then end at once.

    The service that replaces it starts a process of its own; two must not train one run. Ray's
    processes follow their driver.
    """
    for line in stream:
        commands.put(COMMANDS.validate_json(line))
    os._exit(1)


def main(arguments: list[str]) -> int:
    """Run the training process; returns its exit code."""
    run_file, message_fd = Path(arguments[0]), int(arguments[1])
    os.nice(_NICENESS)
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
            ray.init(
                num_cpus=settings.ray_workers + 1,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
            )
            training.run()
        except Exception as error:
            messages.write(Failed(reason=f"{type(error).__name__}: {error}").line())
            raise
        finally:
            ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
