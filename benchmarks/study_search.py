"""The search that all runs of the study of rewards share: start states and judged segments.

It reads neither rewards nor judges. Its states are starts of training. The last seconds before each
cell was found and a sample of its play are the first labelled segments, so that a reward model
exists early and covers more than the first steps of the quest. With the sample alone, which reached
almost no objective, the gate rejected models that ranked states like the judge.
"""

import os
from collections.abc import Iterator
from operator import methodcaller
from pathlib import Path

import numpy as np
from outcome import say

from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.files.whole import write_whole
from rlaif.game.machine.actions import decode_actions
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.memory.blocks import RamBlocks
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.learner.exploration import open_explorers
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.search.marks import Marks, large
from rlaif.trainer.search.opening import TREE, open_search
from rlaif.trainer.search.search import SearchSettings
from rlaif.trainer.search.tree import read_tree
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import GameSettings

FRAMES = 1_500_000
"""Equivalent to about 60,000 decisions of a policy."""

ENVIRONMENTS, STEPS = 8, 64
CAPTURES = 6
"""Captured segments per report of 512 decisions."""

POWER_ON = "0000-"
"""Prefix of the name of the power-on state, which is node 0."""

POWER_ON_SHARE = 0.5
"""Share of the episodes that start at power-on."""


def search(folder: Path, frames: float = FRAMES) -> list[SpooledCapture]:
    """Play the search in a folder, write its states, and return the segments."""
    say(f"searching for {frames / 1e6:g} M frames")
    cartridge = load_cartridge()
    settings = TrainerSettings(ray_workers=0, envs_per_worker=ENVIRONMENTS, episode_length=2700)
    runners = open_explorers(settings, EnvConfig("search", game=settings.game))
    for old in folder.glob(f"{TREE}*"):
        old.unlink()
    found = open_search(folder, cartridge, SearchSettings(seed=0))
    runners.wait_until_ready()
    captured: list[SpooledCapture] = []
    while found.figures.frames < frames:
        order = methodcaller(
            "sample", steps=STEPS, capture_quota=CAPTURES, context=CaptureContext(),
            job=found.next_job(0),
        )  # fmt: skip
        for fragment in runners.answers(runners.order_of({0: order})):
            assert fragment.explored is not None
            found.take_in(0, fragment.explored)
            captured += fragment.captures
    found.close()
    runners.stop()
    (folder / "starts").mkdir(exist_ok=True)
    for name, state in _states(folder):
        write_whole(folder / "starts" / name, state)
    return captured


def _states(folder: Path) -> Iterator[tuple[str, bytes]]:
    """One state per room and set of large flags; the first is power-on."""
    with read_tree(folder / TREE) as tree:
        groups: dict[tuple[Marks, int], int] = {}
        for start in tree.starts:
            if tree.nearest_state(start.node)[0] == start.node:
                groups.setdefault((large(start.marks), start.room), start.node)
        for (marks, room), node in groups.items():
            yield f"{node:04}-{len(marks)}-{room:03x}.state", tree.state(node)


def arrivals(folder: Path, steps: int) -> Iterator[tuple[str, Iterator[RamBlocks]]]:
    """The path of the search to each cell: a name, and RAM after each of the last `steps` steps.

    Cells closer to power-on are omitted. Each must be consumed before the next one.
    """
    player = Player(GameSettings())
    with read_tree(folder / TREE) as tree:
        for start in tree.starts:
            at, buttons = tree.node(start.node), ""
            while len(buttons) < steps and at.parent is not None:
                at, buttons = tree.node(at.parent), at.actions + buttons
            if len(buttons) >= steps:
                base, before = tree.nearest_state(at.id)
                player.begin(tree.state(base))
                yield f"node-{start.node}", _played(player, before + buttons, steps, start.digest)
    player.close()


def _played(player: Player, buttons: str, steps: int, digest: str) -> Iterator[RamBlocks]:
    row = np.zeros(OBSERVATION_SIZE, dtype=np.float32)
    for left, action in zip(range(len(buttons))[::-1], decode_actions(buttons), strict=True):
        player.game.step(action, row)
        if left < steps:
            yield player.ram
    assert player.digest() == digest


def starts(folder: Path) -> str:
    """In the format of `initial_state_paths`."""
    first, *others = sorted((folder / "starts").glob("*.state"))
    weight = max(1.0, len(others) * POWER_ON_SHARE / (1 - POWER_ON_SHARE))
    return ",".join([f"{first}={weight!r}", *map(os.fspath, others)])
