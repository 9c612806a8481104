"""The processes of a training run, their CPU time, and a reward model for it."""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from rlaif.contracts.game.observation import LAYOUT_VERSION
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.local.strays import descendants
from rlaif.reward_net import artifact
from rlaif.reward_net.network import RewardNet
from rlaif.trainer.run_folder.protocol import LoadRewardModel

MEMBERS = 5
"""Default number of networks of a reward model (`REWARD_MODEL_MEMBERS`)."""

DRIVER, RUNNERS, OTHER = "driver", "runners", "other"
RUNNER = b"rlaif.trainer.learner.runners.child"

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Process:
    """A process of a run.

    Attributes:
        kind: `driver`, `runners` or `other`.
    """

    pid: int
    kind: str


def reward_model(directory: Path, version: int = 1) -> LoadRewardModel:
    """Write a reward model of the default size, an ensemble with its initial weights."""
    spec = RewardNetSpec(
        layout_version=LAYOUT_VERSION, spread=0.1, members=MEMBERS, activation="tanh"
    )
    net = RewardNet(spec, generator=torch.Generator().manual_seed(version))
    data = artifact.save(net, spec, version=version)
    path = directory / f"{version}.safetensors"
    path.write_bytes(data)
    return LoadRewardModel(version=version, path=str(path), sha256=hashlib.sha256(data).hexdigest())


def tree(root: int) -> list[Process]:
    """A training process and its descendants."""
    return [Process(root, DRIVER), *(Process(e.pid, _kind(e.pid)) for e in descendants([root]))]


def cpu_seconds(pids: Iterable[int]) -> dict[int, float]:
    """CPU seconds (user and system) of each running process so far."""
    spent = {}
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            spent[pid] = (int(fields[11]) + int(fields[12])) / _TICKS
    return spent


def _kind(pid: int) -> str:
    with suppress(OSError):
        if Path(f"/proc/{pid}/cmdline").read_bytes().find(RUNNER) >= 0:
            return RUNNERS
    return OTHER
