"""Context of a training process: settings, run folder, messages and commands."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.live_files import SCREENS
from rlaif.trainer.run_folder.plan import Plan
from rlaif.trainer.run_folder.protocol import Command, GrantCaptures, Message, Stop
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.settings import TrainerSettings


@dataclass(frozen=True)
class RunContext:
    """Data for all parts of the training process; `send` sends messages to the service."""

    settings: TrainerSettings
    record: RunRecord
    directory: Path
    send: Callable[[Message], None]

    @property
    def checkpoints(self) -> Path:
        return self.directory / "checkpoints"

    @property
    def rom_sha256(self) -> str:
        return load_cartridge(self.settings.rom_path).sha256

    def named_checkpoint(self, name: str) -> Path:
        """Return a checkpoint by name; raises `CheckpointError` if it is missing or damaged."""
        return checkpoints.find(self.settings.data_dir.resolve(), name)

    def plan(self, first_step: int) -> Plan:
        return Plan(self.settings, self.settings.eval_interval, first_step)

    def environments(self) -> EnvConfig:
        game = self.settings.game
        if self.settings.joins_cluster:  # other machines request files by these paths
            game = game.with_files(Path.resolve)
        return EnvConfig(
            run_id=self.record.run_id,
            attempt=self.record.attempts,
            game=game,
            capture=self.settings.capture,
            gamma=self.settings.ppo.gamma,
            pictures=self.settings.policy == "cnn",
            screens=self.directory / SCREENS,
        )


@dataclass
class Requests:
    """Received commands: a stop takes effect at once, the others are queued until `take`."""

    commands: "SimpleQueue[Command]"
    _others: list[Command] = field(default_factory=list)
    _stop: bool = False

    def stop_asked(self) -> bool:
        while not self._stop:
            try:
                command = self.commands.get_nowait()
            except Empty:
                break
            if isinstance(command, Stop):
                self._stop = True
            else:
                self._others.append(command)
        return self._stop

    def granted(self) -> int | None:
        """Take the newest grant of captures, in segments; other commands remain queued."""
        self.stop_asked()
        grants = [each for each in self._others if isinstance(each, GrantCaptures)]
        self._others = [each for each in self._others if not isinstance(each, GrantCaptures)]
        return grants[-1].segments if grants else None

    def take(self) -> list[Command]:
        self.stop_asked()
        taken, self._others = self._others, []
        return taken
