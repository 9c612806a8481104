"""Captures to spool and upload, and a game without an emulator: RAM that a test writes."""

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Literal

import pytest

from rlaif.contracts.game.captures import Capture, EmulatorIdentity, GameIdentity
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import SAVEFILE_STRING, address
from rlaif.trainer.play.facts import read_facts
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.rewards.game.ledger import EpisodeRewards, total
from rlaif.trainer.rewards.game.presets import PARTS, preset
from rlaif.trainer.run_folder.spool import SpooledCapture

SHA = "ab" * 32


@pytest.fixture
def spooled() -> Callable[[str], SpooledCapture]:
    """Makes a spooled capture with the given segment id."""
    return _spooled


def _spooled(segment_id: str) -> SpooledCapture:
    capture = Capture(
        segment_id=segment_id,
        episode_id="e-1",
        run_id="r-1",
        env_id="r-1-0",
        game=GameIdentity(title="SEEDLING", rom_sha256=SHA),
        emulator=EmulatorIdentity(version="2.8.1", sound_emulated=False),
        frame_skip=4,
        keyframe_sha256=SHA,
        actions="0123",
        start_step=0,
        start_ram_sha256=SHA,
        end_ram_sha256=SHA,
        env_step=10,
    )
    return SpooledCapture(capture, b"\x28\xb5\x2f\xfd\nbinary\n")


class ScriptedGame:
    """RAM that a test writes, played through facts and rewards as the environment does.

    Attributes:
        earned: Reward term → sum of its positive values.
        payments: Reward term → number of positive values.
        reward: Sum of the rewards.
    """

    def __init__(self, weights: Literal["seed", "default"] = "default") -> None:
        self.wram = bytearray(0x2000)
        self.weights = preset(weights)
        self.rewards = EpisodeRewards(self.weights)
        self.earned: defaultdict[str, float] = defaultdict(float)
        self.payments: Counter[str] = Counter()
        self.reward = 0.0
        self._facts: GameFacts | None = None
        self.load_file()
        self.go(0, 0x65, 80, 64)

    def load_file(self) -> None:
        """A new file is being played."""
        self.poke("wSavefileString", SAVEFILE_STRING)
        self.poke("wGameState", 2)
        self.poke("wCutsceneIndex", 1)
        self.poke("wScrollMode", 1)
        self.poke("w1Link.state", 1)
        self.poke("wLinkHealth", 12)
        self.poke("wLinkMaxHealth", 12)

    def poke(self, name: str, value: int | bytes, offset: int = 0) -> None:
        """Write a byte, or several, at a symbol."""
        data = bytes([value]) if isinstance(value, int) else value
        at = address(name) + offset - 0xC000
        self.wram[at : at + len(data)] = data

    def flag(self, name: str, bit: int, on: bool = True) -> None:
        """Set or clear a bit of a set."""
        at = address(name) + bit // 8 - 0xC000
        mask = 1 << bit % 8
        self.wram[at] = self.wram[at] | mask if on else self.wram[at] & ~mask

    def go(self, group: int, room: int, x: int, y: int) -> None:
        """Stand there."""
        self.poke("wActiveGroup", group)
        self.poke("wActiveRoom", room)
        self.poke("w1Link.xh", x)
        self.poke("w1Link.yh", y)

    def rupees(self, amount: int) -> None:
        """Hold this many, in BCD."""
        self.poke("wNumRupees", int(f"{amount:04d}", 16).to_bytes(2, "little"))

    @property
    def facts(self) -> GameFacts:
        """The facts of this moment."""
        self._facts = read_facts(RamBlocks(bytes(self.wram)), self._facts)
        return self._facts

    def begin(self) -> None:
        """The episode starts."""
        self.rewards.begin(self.facts)

    def step(self, action: int = Action.NOP) -> dict[str, float]:
        """One decision step later; returns the parts that are not 0."""
        parts = self.rewards.step(self.facts, action)
        self.reward += total(parts)
        paid = {name: float(v) for name, v in zip(PARTS, parts, strict=True) if v}
        for name, amount in paid.items():
            if amount > 0:
                self.earned[name] += amount
                self.payments[name] += 1
        return paid


@pytest.fixture
def scripted_game() -> Callable[..., ScriptedGame]:
    """Makes a `ScriptedGame`; it stands in room 0x65 with three hearts and nothing else."""
    return ScriptedGame
