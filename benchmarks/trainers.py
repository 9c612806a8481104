"""Training runs for benchmarks: ours, which can be replayed on a bare PyBoy, and RLlib's own."""

import os
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bare import Bare, Episode
from outcome import ENVS, WORKERS

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import new_emulator
from rlaif.trainer.learner.runners.runner import EmulatorRunner
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.followers.places import PlaceCounts, PlaceFollower
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.start import Start
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import CaptureSettings, GameSettings
from rlaif.trainer.settings.learning import CurriculumSettings


class Recorded(PlaceFollower):
    """Counts places as in training, and records the inputs for a replay on a bare PyBoy."""

    def __init__(self, counts: PlaceCounts, game: GameEnv) -> None:
        super().__init__(counts, game)
        self.played: list[Episode] = []

    def begin_episode(self, facts: GameFacts, start: Start) -> None:
        self.played.append(Episode(start.state, start.warm_up))
        super().begin_episode(facts, start)

    def after_step(self, facts: GameFacts, action: int, wait: int) -> None:
        self.played[-1].steps.append((action, wait))
        super().after_step(facts, action, wait)


@dataclass(frozen=True)
class Replayed:
    """Cost of one runner's play on a bare PyBoy.

    Attributes:
        frames: Game frames, waits included.
        wall: Seconds. Loading the next state after an episode counts, as for the runner; the first
            start does not.
        cpu: The same in CPU seconds.
        same_ram: Whether every game ended with the RAM that it had in training.
    """

    frames: int
    wall: float
    cpu: float
    same_ram: bool


class BenchmarkRunner(EmulatorRunner):
    """The trainer's runner, whose play can be replayed on a bare PyBoy."""

    def start_over(self) -> None:
        """Start new games at the scenes."""
        self.make_env()

    def replay(self) -> Replayed:
        """Replay everything since `start_over` on a bare PyBoy."""
        config = self.config.env
        cartridge = load_cartridge(config.game.rom_path)
        bare, wall, cpu, same = Bare(cartridge), 0.0, 0.0, True
        looker = new_emulator(cartridge)
        frames = 0
        vector = self._vector
        assert vector is not None, "nothing was played"
        for seat in vector._seats:
            watcher, digest = seat.follower, seat.game.emulator.ram_digest()
            assert isinstance(watcher, Recorded)
            for number, episode in enumerate(watcher.played):
                began = time.perf_counter(), time.process_time()
                bare.load(episode.state)
                bare.play(episode.warm_up, config.game.frame_skip)
                if not number:  # the first start counts for neither
                    began = time.perf_counter(), time.process_time()
                bare.play(episode.steps, config.game.frame_skip)
                wall += time.perf_counter() - began[0]
                cpu += time.process_time() - began[1]
                frames += sum(config.game.frame_skip + wait for _, wait in episode.steps)
            if watcher.played[-1].steps:
                looker.load_state(bare.save())
                same &= looker.ram_digest() == digest
        looker.close()
        return Replayed(frames, wall, cpu, same)

    def _follow(
        self, curriculum: CurriculumSettings | None, env: EnvConfig, game: GameEnv, n: int
    ) -> EpisodeFollower:
        return Recorded(self._places, game)


@dataclass
class Usage:
    """CPU seconds of a run's processes between two points in time."""

    algorithm: Any
    _driver: float = field(default_factory=time.process_time)
    _runners: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._runners = cpu_of_runners(self.algorithm)

    def seconds(self) -> dict[str, float]:
        """CPU seconds since creation, by kind of process."""
        now = cpu_of_runners(self.algorithm)
        return {
            "driver": time.process_time() - self._driver,
            "runners": sum(now) - sum(self._runners),
        }


def process_seconds(_runner: Any) -> float:
    return time.process_time()


def cpu_of_runners(algorithm: Any) -> list[float]:
    if hasattr(algorithm, "runners"):
        return list(algorithm.runners.ask(process_seconds))
    group = algorithm.env_runner_group  # RLlib's own
    return list(group.foreach_env_runner(process_seconds, local_env_runner=False))


def frames_of(algorithm: Any) -> int:
    """Game frames of the last learned batch, waits included."""
    return sum(int(each.frames.sum()) for each in algorithm.fragments if each.frames is not None)


def settings_of(preset: str, **changes: Any) -> TrainerSettings:
    """Uses the eight buttons unless `changes` contains another action set."""
    return TrainerSettings.model_validate(
        {
            "actions": "seed",
            "ppo_preset": preset,
            "ray_workers": WORKERS,
            "envs_per_worker": ENVS,
            **changes,
        }
    )


def environment(
    states: dict[str, bytes],
    directory: Path,
    *,
    rom: Path | None = None,
    frame_skip: int = 4,
    episode_length: int = 30_000,
) -> EnvConfig:
    """Episodes start uniformly at `states`, which are written into `directory`."""
    paths = []
    for number, state in enumerate(states.values()):
        path = directory / f"{number}.state"
        path.write_bytes(state)
        paths.append(path)
    return EnvConfig(
        run_id="bench",
        game=GameSettings(
            actions="seed",
            rom_path=rom,
            frame_skip=frame_skip,
            episode_length=episode_length,
            initial_state_paths=",".join(map(str, paths)),
        ),
        capture=CaptureSettings(best_episodes=0),
    )


def prepare_runners() -> None:
    """Make the modules of this folder importable in runner processes."""
    warnings.simplefilter("ignore", DeprecationWarning)
    here = str(Path(__file__).resolve().parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
    os.environ["PYTHONWARNINGS"] = "ignore"


def start_ray(cpus: int) -> None:
    """Start a local Ray, for RLlib's own runners."""
    import ray

    prepare_runners()
    ray.init(
        address="local",  # not another cluster on this machine
        num_cpus=cpus,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
