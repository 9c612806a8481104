"""Milestones of a story: the steps reached according to RAM, in quest order.

The steps are data, see `story_lookup`. Most are bits of the save file, which survive death and room
changes; a few are visible only while they happen, and treasures can be lost again, so progress is
latched by `MilestoneLatch`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address, room_flags_page
from rlaif.game.memory.predicates import is_running


@dataclass(frozen=True)
class ByteTest:
    """A test of one byte: `low <= byte & mask <= high`."""

    address: int
    mask: int = 0xFF
    low: int = 1
    high: int = 0xFF

    def holds(self, byte: int) -> bool:
        return self.low <= byte & self.mask <= self.high


@dataclass(frozen=True)
class Milestone:
    """One step of the story."""

    name: str  # unique in its game, snake_case
    title: str  # for people
    test: ByteTest
    is_main: bool = True  # required by the quest; extras do not count in fractions


def treasure(number: int) -> ByteTest:
    """Treasure `number` (0 to 127) was obtained and not taken away."""
    return _bit_of("wObtainedTreasureFlags", number)


def story_flag(number: int) -> ByteTest:
    """Story flag `number` (0 to 127) is set."""
    return _bit_of("wGlobalFlags", number)


def room_flag(group: int, room: int, bits: int) -> ByteTest:
    """One of the flag bits of a room is set."""
    return ByteTest(room_flags_page(group) + room, bits)


def visited(dungeon: int) -> ByteTest:
    """A dungeon was entered."""
    return ByteTest(address("wDungeonVisitedFloors") + dungeon)


def essence(dungeon: int) -> ByteTest:
    """The essence of a dungeon, 1 to 8, was obtained."""
    return ByteTest(address("wEssencesObtained"), 1 << dungeon - 1)


def boss_key(dungeon: int) -> ByteTest:
    """The boss key of a dungeon was obtained."""
    return _bit_of("wDungeonBossKeys", dungeon)


def compass(dungeon: int) -> ByteTest:
    """The compass of a dungeon was obtained."""
    return _bit_of("wDungeonCompasses", dungeon)


def dungeon_map(dungeon: int) -> ByteTest:
    """The map of a dungeon was obtained."""
    return _bit_of("wDungeonMaps", dungeon)


def season(bit: int) -> ByteTest:
    """The rod has a season: bit 0 spring, 1 summer, 2 autumn, 3 winter."""
    return ByteTest(address("wObtainedSeasons"), 1 << bit)


def at_least(name: str, least: int) -> ByteTest:
    """A symbol of one byte has at least this value."""
    return ByteTest(address(name), low=least)


def equals(name: str, value: int) -> ByteTest:
    """A symbol of one byte has this value."""
    return ByteTest(address(name), low=value, high=value)


class Story:
    """The steps of one game, main ones and extras, in quest order."""

    def __init__(self, milestones: Iterable[Milestone]) -> None:
        self.milestones = tuple(milestones)
        tests = [milestone.test for milestone in self.milestones]
        self._offsets = np.array([test.address - WRAM_START for test in tests], dtype=np.intp)
        self._masks = np.array([test.mask for test in tests], dtype=np.uint8)
        self._low = np.array([test.low for test in tests], dtype=np.uint8)
        self._high = np.array([test.high for test in tests], dtype=np.uint8)

    @property
    def main_names(self) -> frozenset[str]:
        return frozenset(milestone.name for milestone in self.milestones if milestone.is_main)

    def hits(self, ram: RamBlocks) -> npt.NDArray[np.bool_]:
        """Which tests hold now, `[M]` bool, whether or not a file is loaded; about 4 µs."""
        bits = ram.array()[self._offsets] & self._masks
        found: npt.NDArray[np.bool_] = (self._low <= bits) & (bits <= self._high)
        return found


def milestones_reached(ram: RamBlocks, story: Story) -> tuple[Milestone, ...]:
    """The steps that the RAM shows now, in quest order; empty while no file is loaded."""
    if not story.milestones or not is_running(ram):
        return ()
    return tuple(story.milestones[index] for index in np.flatnonzero(story.hits(ram)))


def fraction(reached: Iterable[Milestone], story: Story) -> float:
    """Share of the main steps that were reached, 0 to 1; 0 for a story without any."""
    steps = story.main_names
    return len(steps & {milestone.name for milestone in reached}) / len(steps) if steps else 0.0


class MilestoneLatch:
    """The steps reached since the start of an episode: each counts once and is never lost.

    Steps in the start state are known, not reached, so that a late save state gives no
    reward.
    """

    def __init__(self, story: Story, start: RamBlocks) -> None:
        self._story = story
        self._known = list(milestones_reached(start, story))
        self._known_names = {milestone.name for milestone in self._known}
        self._reached: list[Milestone] = []

    @property
    def reached(self) -> tuple[Milestone, ...]:
        """The steps reached since the start, in the order of their occurrence."""
        return tuple(self._reached)

    @property
    def fraction(self) -> float:
        """Share of the main steps in the start state or reached since, 0 to 1."""
        return fraction((*self._known, *self._reached), self._story)

    def update(self, ram: RamBlocks) -> tuple[Milestone, ...]:
        """Update with the RAM; returns the newly reached steps, in quest order; about 10 µs."""
        found = milestones_reached(ram, self._story)
        new = tuple(step for step in found if step.name not in self._known_names)
        self._known_names.update(step.name for step in new)
        self._reached.extend(new)
        return new


def _bit_of(name: str, number: int) -> ByteTest:
    return ByteTest(address(name) + (number >> 3), 1 << (number & 7))
