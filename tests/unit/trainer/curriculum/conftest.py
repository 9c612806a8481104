"""Demonstrations of a fictitious game: arrays of the right shape."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from rlaif.game.captures.capture import pack_keyframe
from rlaif.trainer.curriculum.demonstrations import (
    Demonstration,
    KeptState,
    Reached,
)


def _made(
    name: str = "one",
    length: int = 20,
    marks: Mapping[int, str] | None = None,
    states_every: int = 4,
    game: str | None = None,
    **changes: Any,
) -> Demonstration:
    rng, game = np.random.default_rng(length), game or name
    found = {8: "sword", 20: "shield"} if marks is None else marks
    moments = sorted({*range(0, length + 1, states_every), *(at for at in found if at <= length)})
    values: dict[str, Any] = {
        "name": name,
        "decisions": rng.integers(0, 20, length),
        "imitated": rng.random(length) < 0.9,
        "frames": rng.integers(4, 60, length).astype(np.int32),
        "rewards": rng.random(length).astype(np.float32),
        "observations": rng.random((length + 1, 128)).astype(np.float32),
        "policy_inputs": rng.random((length + 1, 3)).astype(np.float32),
        "reached": tuple(Reached(at, frozenset(it.split("+"))) for at, it in found.items()),
        "states": tuple(KeptState(at, pack_keyframe(b"%d" % at), f"{game} {at}") for at in moments),
    }
    return Demonstration(**values | changes)


@pytest.fixture(scope="session")
def made() -> Callable[..., Demonstration]:
    """Creates a demonstration; `marks` maps decision counts to flag names joined by `+`."""
    return _made
