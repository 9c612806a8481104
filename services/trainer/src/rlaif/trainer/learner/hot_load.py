"""A reward model from a file: checked, or refused with a reason.

What is checked: the digest that was promised, the size, the shapes against the file's own spec, the
observation layout, the version, finite weights, finite and bounded answers to made-up observations,
and that the answers which the writer recorded come out again (`rlaif.reward_net.artifact`).
"""

from pathlib import Path

from rlaif.contracts.observation import LAYOUT_VERSION
from rlaif.reward_net.artifact import MAX_BYTES, load
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.potential import PotentialFunction
from rlaif.trainer.rewards.learned.reward_models import RewardModel


def read_reward_model(path: Path, *, version: int, sha256: str) -> RewardModel:
    """Read and check a reward model, by the version and digest under which it was announced.

    Raises:
        RewardNetError: A check failed; `reason` names it.
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        # No more than is needed to see that it is too large.
        data = file.read(MAX_BYTES + 1)
    return check_reward_model(data, version=version, sha256=sha256)


def check_reward_model(data: bytes, *, version: int, sha256: str) -> RewardModel:
    """Check a reward model that was read or that a checkpoint held; raises `RewardNetError`."""
    loaded = load(data, sha256=sha256, layout_version=LAYOUT_VERSION)
    if loaded.version != version:
        raise RewardNetError(
            "wrong_version",
            f"the file says that it is version {loaded.version}, it was announced as {version}; "
            "publish the version again",
        )
    return RewardModel(version, sha256, data, PotentialFunction(loaded.net))
