"""The run that this process trains: its settings, its folder, and the way back to the service."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.explorer import ExploreConfig
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.protocol import Message
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.settings import TrainerSettings


@dataclass(frozen=True)
class RunContext:
    """What every part of the training process knows of the run.

    Attributes:
        settings: Of this attempt.
        record: Of this attempt, as it is on disk.
        directory: The run's folder.
        tell: Sends a message to the service.
    """

    settings: TrainerSettings
    record: RunRecord
    directory: Path
    tell: Callable[[Message], None]

    @property
    def checkpoints(self) -> Path:
        """Folder of the run's checkpoints."""
        return self.directory / "checkpoints"

    @property
    def rom_sha256(self) -> str:
        """Digest of the game's ROM."""
        return load_cartridge(self.settings.rom_path).sha256

    def named_checkpoint(self, name: str) -> Path:
        """The checkpoint that the settings name, of this run or another one.

        Raises:
            CheckpointError: There is none of this name, or it is damaged.
        """
        return checkpoints.find(self.settings.data_dir.resolve(), name)

    def exploration(self) -> ExploreConfig:
        """How places are explored."""
        return ExploreConfig(
            directory=self.directory,
            restarts=self.settings.explore_restarts,
            swarm=self.settings.explore_swarm,
            max_states=self.settings.explore_states,
        )

    def environments(self) -> EnvConfig:
        """What every environment is built from."""
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
