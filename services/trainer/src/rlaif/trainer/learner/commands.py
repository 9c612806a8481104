"""What the service asks of the training process, carried out between two iterations."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO

from rlaif.reward_net.errors import RewardNetError
from rlaif.trainer import checks
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.rewards.learned.reward_models import read_reward_model
from rlaif.trainer.run_folder.protocol import (
    COMMANDS,
    Command,
    GrantCaptures,
    LoadRewardModel,
    RewardModelLoaded,
    RewardModelRefused,
    Stop,
)


def queue_commands(
    stream: BinaryIO, commands: "SimpleQueue[Command]", on_stop: Callable[[], None]
) -> None:
    """Queue what comes in, until the input ends: then the service was killed."""
    for line in stream:
        command = COMMANDS.validate_json(line)
        commands.put(command)
        if isinstance(command, Stop):
            on_stop()


@dataclass
class Requests:
    """Commands that came in: a stop counts at once, the others wait until they are taken."""

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

    def take(self) -> list[Command]:
        self.stop_asked()
        taken, self._others = self._others, []
        return taken


class CommandHandler:
    """Carries out commands on the algorithm, and says which reward model counts because of them."""

    def __init__(self, run: RunContext, algorithm: ShapedPPO, requests: Requests) -> None:
        self._run = run
        self._algorithm = algorithm
        self._requests = requests

    def obey(self) -> bool:
        """Carry out what has been asked for; False when it is time to stop.

        Between two fragments: one reward-model version shapes one fragment.
        """
        if self._requests.stop_asked():
            return False
        for command in self._requests.take():
            match command:
                case GrantCaptures(segments=segments):
                    self._algorithm.capture_quota = segments
                case LoadRewardModel():
                    self._load(command)
        if self._algorithm.rewards.models.swap_if_due() is not None:
            self.tell_live_model()
        return True

    def load_given(self, path: Path) -> None:
        data, version = checks.read_reward_model(path)
        sha256 = hashlib.sha256(data).hexdigest()
        self._load(LoadRewardModel(version=version, path=str(path), sha256=sha256))

    def tell_live_model(self) -> None:
        version = self._algorithm.rewards.version
        if version is not None:
            self._run.send(RewardModelLoaded(version=version, env_step=self._algorithm.env_steps))

    def tell_refused_models(self) -> None:
        rewards = self._algorithm.rewards
        for model, reason in rewards.refused if self._algorithm.fragments else ():
            self._run.send(
                RewardModelRefused(
                    version=model.version, reason=reason, rolled_back=True, counts=rewards.version
                )
            )

    def _load(self, command: LoadRewardModel) -> None:
        """Check a champion and take it in line; `obey` lets it count once it may."""
        models = self._algorithm.rewards.models
        if command.withdrawn is not None:
            if models.withdraw():
                self._run.send(
                    RewardModelRefused(
                        version=command.version,
                        reason=f"withdrawn: {command.withdrawn}",
                        rolled_back=True,
                        counts=None,
                    )
                )
            return
        try:
            model = read_reward_model(
                Path(command.path), version=command.version, sha256=command.sha256
            )
        except Exception as error:
            # Whatever a file does to its reader is a fault of the file, and no end of training.
            known = isinstance(error, RewardNetError)
            reason = str(error) if known else f"{type(error).__name__}: {error}"
            self._run.send(RewardModelRefused(version=command.version, reason=reason))
            return
        if model.sha256 in models.refused:
            reason = "not_finite: it gave NaN or infinity for what was played in this run before"
            self._run.send(RewardModelRefused(version=command.version, reason=reason))
        elif not models.offer(model):
            self.tell_live_model()
