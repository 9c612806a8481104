"""A trained policy as two files that can be copied anywhere: weights, and what they fit.

    policy.safetensors    the networks' arrays
    policy.json           game, arm, layouts, settings, and the digest of the other file

Who loads it is told what does not fit before any weight is used.
"""

import hashlib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_of
from safetensors.numpy import save as serialized

from rlaif.contracts.ids import Id, Sha256
from rlaif.contracts.observation import LAYOUT_VERSION
from rlaif.files.whole import write_whole
from rlaif.game.decisions.catalog import COUNT
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.policy_input.layout import INPUT_VERSION, SIZE

WEIGHTS, CARD = "policy.safetensors", "policy.json"
FOLDER = "trained"
"""Of a run, and of this package for the one that comes with it."""

LARGEST_WEIGHTS = 64 << 20
MAKE_ONE = "make one with: make train-cartridge SEED=1"

Arrays = Mapping[str, npt.NDArray[Any]]


class TrainedPolicyError(Exception):
    """There is no such policy, or it cannot be used here; the message says why and what to do."""


class PolicyCard(BaseModel):
    """What a trained policy says of itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    game: str = Field(description="As `Cartridge.game` tells it.")
    rom_sha256: Sha256
    arm: str = Field(description="Decisions that it has: seed, buttons, macros or options.")
    decisions: int = Field(description="Outputs of the policy.")
    observation_layout: str = Field(description="Version of the 128 numbers.")
    policy_input: str = Field(description="Version and size of what it reads beside them.")
    run_id: Id
    seed: int = Field(description="Of the run that trained it.")
    iteration: int
    env_steps: int
    trained_seconds: float = Field(description="Of the policy alone.")
    created_at: AwareDatetime
    settings: dict[str, Any] = Field(description="That playing depends on, by flat name.")
    weights_sha256: Sha256 = Field(default="0" * 64)

    def check_fits(self, **needed: Any) -> None:
        """Compare fields with what is here: `card.check_fits(rom_sha256=…, decisions=…)`.

        Raises:
            TrainedPolicyError: The first that differs.
        """
        for name, value in needed.items():
            own = getattr(self, name)
            if own != value:
                raise TrainedPolicyError(
                    f"the policy of run {self.run_id} does not fit: its {_WORDS[name]} is "
                    f"{_short(own)}, here it is {_short(value)}; {_MENDS[name]}"
                )


def layouts() -> dict[str, Any]:
    """What of this program a policy depends on, by field of its card."""
    return {
        "decisions": COUNT,
        "observation_layout": LAYOUT_VERSION,
        "policy_input": f"{INPUT_VERSION}, {SIZE} numbers",
    }


def check(card: PolicyCard, cartridge: Cartridge) -> None:
    """See that a policy fits this program and this game.

    Raises:
        TrainedPolicyError: It does not; the message says what differs.
    """
    card.check_fits(game=cartridge.game, rom_sha256=cartridge.sha256, **layouts())


_WORDS = {
    "game": "game",
    "rom_sha256": "game's ROM",
    "arm": "set of decisions",
    "decisions": "number of decisions",
    "observation_layout": "layout of the observation",
    "policy_input": "input beside the observation",
}
_RETRAIN = "it was trained by another version of this program: train one again"
_MENDS = {
    "game": "give the game that it was trained on",
    "rom_sha256": "give the ROM that it was trained on (ROM=…)",
    "arm": "leave the arm out",
    "decisions": _RETRAIN,
    "observation_layout": _RETRAIN,
    "policy_input": _RETRAIN,
}


def write(directory: Path, card: PolicyCard, weights: Arrays) -> PolicyCard:
    """Write both files, the card last; gives the card with the digest of the weights."""
    data = serialized({name: np.ascontiguousarray(each) for name, each in weights.items()})
    whole = card.model_copy(update={"weights_sha256": hashlib.sha256(data).hexdigest()})
    (directory / CARD).unlink(missing_ok=True)  # never beside the weights of another one
    write_whole(directory / WEIGHTS, data)
    write_whole(directory / CARD, whole.model_dump_json(indent=1).encode())
    return whole


def read(directory: Path) -> tuple[PolicyCard, dict[str, npt.NDArray[Any]]]:
    """The card and the arrays of a trained policy.

    Raises:
        TrainedPolicyError: A file is missing or damaged, or of another format.
    """
    card = read_card(directory)
    path = directory / WEIGHTS
    try:
        if path.stat().st_size > LARGEST_WEIGHTS:
            raise TrainedPolicyError(f"{path} is larger than {LARGEST_WEIGHTS} bytes: no policy")
        data = path.read_bytes()
    except OSError as error:
        raise TrainedPolicyError(f"{path} cannot be read: {error}; {MAKE_ONE}") from error
    if hashlib.sha256(data).hexdigest() != card.weights_sha256:
        raise TrainedPolicyError(f"{path} is not what {CARD} says: copy both files again")
    try:
        return card, arrays_of(data)
    except (SafetensorError, ValueError) as error:
        raise TrainedPolicyError(f"{path} is damaged: {error}; copy it again") from error


def read_card(directory: Path) -> PolicyCard:
    """The card alone; raises as `read` does."""
    path = directory / CARD
    try:
        return PolicyCard.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise TrainedPolicyError(f"no trained policy in {directory}: {MAKE_ONE}") from None
    except (OSError, ValidationError) as error:
        why = str(error).splitlines()[0]
        raise TrainedPolicyError(f"{path} cannot be read: {why}; {MAKE_ONE}") from error


def find(data_dir: Path, name: str | None = None) -> Path:
    """The folder of the trained policy that is meant.

    Args:
        data_dir: Where runs are.
        name: A run's id or a folder; None for the newest run that has one, else the one that comes
            with this package.

    Raises:
        TrainedPolicyError: There is none.
    """
    if name is not None:
        for folder in (data_dir / "runs" / name / FOLDER, Path(name), Path(name) / FOLDER):
            if (folder / CARD).exists():
                return folder
        raise TrainedPolicyError(
            f"no trained policy of {name!r}: it is neither a run in {data_dir} whose policy was "
            f"trained nor a folder with {CARD}; {MAKE_ONE}"
        )
    cards = sorted((data_dir / "runs").glob(f"*/{FOLDER}/{CARD}"), key=lambda p: p.stat().st_mtime)
    if cards:
        return cards[-1].parent
    if (shipped() / CARD).exists():
        return shipped()
    raise TrainedPolicyError(
        f"no trained policy yet, neither in {data_dir} nor in this package: {MAKE_ONE}"
    )


def shipped() -> Path:
    """Where the policy lies that comes with this package; nothing is written there."""
    return Path(str(resources.files("rlaif.trainer"))) / FOLDER


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 20 else f"{text[:12]}…"
