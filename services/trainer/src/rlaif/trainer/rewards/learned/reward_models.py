"""Ramp-in of reward models: a mix of the new and the previous champion.

A new champion waits until the previous one has shaped enough iterations, then its share rises
from 0 to 1 over some more while the old one's falls. PPO's critic has learned the old potential; an
immediate change would make its values wrong by Phi_old - Phi_new everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.observation import LAYOUT_VERSION
from rlaif.reward_net.artifact import MAX_BYTES, load
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.potential import PotentialFunction
from rlaif.trainer.rewards.learned.shaping import Float32

_REFUSED_KEPT = 64
"""Maximum number of digests of refused models in a checkpoint."""

State = dict[str, npt.NDArray[Any]]
"""A flat part of a checkpoint, without pickle."""


@dataclass(frozen=True)
class RewardModel:
    """A reward model that passed every check; `data` is its file."""

    version: int
    sha256: str
    data: bytes
    answers: PotentialFunction


class NonsenseError(ArithmeticError):
    """A reward model returned NaN or infinity."""

    def __init__(self, model: RewardModel, rows: int, of: int) -> None:
        self.model = model
        super().__init__(
            f"not_finite: {rows} of {of} observations get NaN or infinity; the model passed its "
            "own probes, so its weights overflow elsewhere: train another one"
        )


@dataclass
class ModelSchedule:
    """The live model, the previous one while it is ramped out, and the one that waits.

    A model that returns NaN is refused: the one before it becomes live again, or none.

    Attributes:
        ramp_iterations: Iterations until a new model has its full share; 0 and 1: immediately.
        swap_iterations: Minimum iterations of a model; not below `ramp_iterations`, so that the mix
            has at most two models.
        previous: The predecessor of `live` while it has a share; else None.
        age: Iterations of `live`.
        before: The predecessor of `live`, also without a share; target of a rollback.
        refused: Digests of refused models; they never become live again.
    """

    ramp_iterations: int
    swap_iterations: int
    live: RewardModel | None = None
    previous: RewardModel | None = None
    waiting: RewardModel | None = None
    age: int = 0
    before: RewardModel | None = None
    refused: set[str] = field(default_factory=set)

    def offer(self, model: RewardModel) -> bool:
        """Queue a new champion, replacing a waiting one; returns False if it is already live."""
        known = self.live is not None and self.live.sha256 == model.sha256
        self.waiting = None if known else model
        return not known

    def swap_if_due(self) -> RewardModel | None:
        """Make the waiting model live for the next iteration if it is due; returns it, or None."""
        if self.waiting is None or (self.live is not None and self.age < self.swap_iterations):
            return None
        self.before = self.live
        self.live, self.previous, self.waiting, self.age = self.waiting, self.live, None, 0
        return self.live

    def refuse(self, model: RewardModel) -> None:
        """Reject a model; if it was live, the one before it becomes live, in full."""
        self.refused.add(model.sha256)
        if self.live is not None and self.live.sha256 == model.sha256:
            self.live, self.age = self.before, max(self.ramp_iterations, self.swap_iterations)
            self.before = self.previous = None
        if self.previous is not None and self.previous.sha256 in self.refused:
            self.previous = None
        if self.before is not None and self.before.sha256 in self.refused:
            self.before = None
        if self.waiting is not None and self.waiting.sha256 in self.refused:
            self.waiting = None

    def withdraw(self) -> bool:
        """Remove all models; False if there was none."""
        counted = self.live is not None or self.waiting is not None
        self.live = self.previous = self.waiting = self.before = None
        self.age = 0
        return counted

    def end_iteration(self) -> None:
        self.age += self.live is not None
        if self.share >= 1.0:
            self.previous = None

    def state_dict(self) -> State:
        state: State = {"age": np.array([self.age], dtype=np.int64)}
        if self.refused:
            digests = sorted(self.refused)[-_REFUSED_KEPT:]
            state["refused"] = np.frombuffer(bytes.fromhex("".join(digests)), dtype=np.uint8)
        roles = {
            "live": self.live,
            "previous": self.previous,
            "waiting": self.waiting,
            "before": self.before,
        }
        for role, model in roles.items():
            if model is not None:
                digest = np.frombuffer(bytes.fromhex(model.sha256), dtype=np.uint8)
                state[f"{role}/version"] = np.array([model.version], dtype=np.int64)
                state[f"{role}/sha256"] = digest
                state[f"{role}/data"] = np.frombuffer(model.data, dtype=np.uint8)
        return state

    def load_state_dict(self, state: State, check: Callable[..., RewardModel]) -> None:
        def model(role: str) -> RewardModel | None:
            if f"{role}/data" not in state:
                return None
            return check(
                state[f"{role}/data"].tobytes(),
                version=int(state[f"{role}/version"][0]),
                sha256=state[f"{role}/sha256"].tobytes().hex(),
            )

        self.age = int(state["age"][0])
        packed = state["refused"].tobytes() if "refused" in state else b""
        self.refused = {packed[at : at + 32].hex() for at in range(0, len(packed), 32)}
        self.live, self.previous = model("live"), model("previous")
        self.waiting, self.before = model("waiting"), model("before")

    @property
    def share(self) -> float:
        """Share of `live` in the next iteration, above 0 to 1; the rest is that of `previous`."""
        return min(1.0, (self.age + 1) / max(1, self.ramp_iterations))

    def mixed(
        self, read: Callable[[PotentialFunction, Float32], Float32]
    ) -> Callable[[Float32], Float32] | None:
        """The mix of `read`, `[B]`, as a function of `[B, D]` observations; None without a model.

        The function raises `NonsenseError` if a model returns NaN or infinity.
        """
        live, previous, share = self.live, self.previous, self.share
        if live is None:
            return None

        def answer(observations: Float32) -> Float32:
            new = _sensible(live, read, observations)
            if share >= 1.0:
                return new
            old = _sensible(previous, read, observations) if previous is not None else 0.0
            both: Float32 = np.float32(share) * new + np.float32(1.0 - share) * old
            return both

        return answer


def _sensible(
    model: RewardModel,
    read: Callable[[PotentialFunction, Float32], Float32],
    observations: Float32,
) -> Float32:
    with np.errstate(over="ignore", invalid="ignore"):
        answers = read(model.answers, observations)
    wrong = len(answers) - int(np.isfinite(answers).sum())
    if wrong:
        raise NonsenseError(model, wrong, len(answers))
    return answers


def read_reward_model(path: Path, *, version: int, sha256: str) -> RewardModel:
    """Read and check a reward model, by the version and digest under which it was announced.

    Raises:
        RewardNetError: A check failed; `reason` names it.
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        # One byte more shows that it is too large.
        data = file.read(MAX_BYTES + 1)
    return check_reward_model(data, version=version, sha256=sha256)


def check_reward_model(data: bytes, *, version: int, sha256: str) -> RewardModel:
    """Check a reward model that was read or that a checkpoint held; raises `RewardNetError`."""
    loaded = load(data, sha256=sha256, layout_version=LAYOUT_VERSION)
    if loaded.version != version:
        raise RewardNetError(
            "wrong_version",
            f"the file contains version {loaded.version} but was announced as {version}; "
            "publish the version again",
        )
    return RewardModel(version, sha256, data, PotentialFunction(loaded.net))
