#!/usr/bin/env python3
"""Press buttons at random for a long time and check that the game never hangs.

    python3 soak.py                            100,000 frames of the shipped ROM
    python3 soak.py --frames 1000000 --seed 7  longer, and other buttons
    python3 soak.py --rom my.gbc               another build of it

Play starts repeatedly from states of walkthrough.json, each time with
another habit (short taps, long holds, several buttons at once, START held ...).
It fails if the game stops counting frames, switches the screen off or selects
another RAM bank, if the player does not get control after a while of taps, is
walled in, or if a bomb, a flame or a throw never ends.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from walker import BUTTONS, Walker

from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.memory.memory_map import SMALL_ROOM, address
from rlaif.game.motion.grid import VECTORS

WALKTHROUGH = Path(__file__).resolve().parent / "walkthrough.json"

MOMENT_EVERY = 400  # frames of the walkthrough
LOOK_EVERY = 12  # frames between two looks at the counter
HANG = 120  # frames without counting; loading a room takes 5
LOST = 1500  # frames of taps until the player must have control
FUSES = 200  # frames after which nothing burns, flies or slides
EPISODES = (600, 3000, 12000)  # frames from one moment
CHECK = 0.01  # share of presses followed by a check

DIRECTIONS = BUTTONS[:4]

# habit: (how many buttons at once, frames held, which buttons)
HABITS = {
    "short taps": ((1, 1), (1, 8), BUTTONS),
    "long holds": ((1, 1), (8, 60), BUTTONS),
    "many at once": ((1, 4), (1, 20), BUTTONS),
    "walk": ((1, 1), (4, 40), DIRECTIONS),
    "walk and press": ((1, 2), (2, 12), (*DIRECTIONS, "A", "B")),
    "start held": ((1, 2), (1, 90), ("START", "A", "B", *DIRECTIONS)),
}
TOOL_SLOTS = {"swing": 0xD600, "bomb": 0xD700, "flame": 0xD800, "block": 0xD140}
CARRIED, HELD = 0xDC00, 1
SELECTED_BANK = 0xFF70
DOORS = (0xE6, 0xE8)
BUSH, HAZARD = 0xC4, 0x10
COLUMNS, ROWS = SMALL_ROOM


class HungError(Exception):
    """The game is stuck; the message says how."""


@dataclass
class Figures:
    """Statistics of a soak."""

    frames: int = 0
    longest_stall: int = 0  # frames without counting
    longest_recovery: int = 0  # frames of taps until control
    rooms: set[tuple[int, int]] = field(default_factory=set)
    checks: int = 0
    deaths: int = 0


class Soak:
    """One emulator with random buttons."""

    def __init__(self, cartridge: Cartridge, seed: int) -> None:
        self._walker = Walker(cartridge)
        self._emulator = self._walker.emulator
        self._held: frozenset[str] = frozenset()
        self._rng = random.Random(seed)
        self.figures = Figures()
        self.moments = self._moments()

    def _moments(self) -> list[bytes]:
        found, last = [], 0
        for button, frames in json.loads(WALKTHROUGH.read_text(encoding="ascii"))["steps"]:
            self._walker.press(button, frames)
            if self._walker.frames - last >= MOMENT_EVERY and self._walker.u8("wGameState") == 2:
                last = self._walker.frames
                found.append(self._emulator.save_state())
        return found

    def run(self, frames: int) -> None:
        while self.figures.frames < frames:
            self._emulator.load_state(self._rng.choice(self.moments))
            self._hold(())
            self._episode(min(self._rng.choice(EPISODES), frames), self._rng.choice([*HABITS]))

    def _episode(self, frames: int, habit: str) -> None:
        many, long, buttons = HABITS[habit]
        end = self.figures.frames + frames
        deaths = self._walker.u8("wDeathCounter")
        while self.figures.frames < end:
            self._hold(self._rng.sample(buttons, self._rng.randint(*many)))
            self._play(self._rng.randint(*long))
            self._hold(())
            self._play(self._rng.choice((1, 1, 2, 6)))
            self.figures.rooms.add(self._walker.room)
            if self._rng.random() < CHECK:
                self._check(habit)
        self._check(habit)
        self.figures.deaths += self._walker.u8("wDeathCounter") != deaths

    def _hold(self, buttons: Iterable[str]) -> None:
        self._held = frozenset(button.lower() for button in buttons)

    def _clock(self) -> int:
        return self._walker.ram.u16(address("wPlaytimeCounter"))

    def _play(self, frames: int) -> None:
        while frames > 0:
            some = min(frames, LOOK_EVERY)
            frames -= some
            self._tick(some)

    def _tick(self, frames: int) -> None:
        before, still = self._clock(), 0
        for _ in range(frames):
            self._emulator.frame(self._held)
        self.figures.frames += frames
        while self._clock() == before:
            still += 1
            if still > HANG:
                raise HungError(f"no frame counted in {still} frames {self._where()}")
            self._emulator.frame(self._held)
            self.figures.frames += 1
        self.figures.longest_stall = max(self.figures.longest_stall, still and still + frames)
        if not self._emulator.screen_is_on:
            raise HungError(f"the screen is off {self._where()}")
        if self._walker.field(SELECTED_BANK) & 7 > 1:
            raise HungError(f"another RAM bank is selected {self._where()}")

    def _where(self) -> str:
        group, room = self._walker.room
        return f"in room {group}:{room:02X} at {self._walker.tile}, frame {self.figures.frames}"

    def _check(self, habit: str) -> None:
        self.figures.checks += 1
        self._recover(habit)
        if not self._has_way_out():
            raise HungError(f"walled in ({habit}) {self._where()}")
        state = self._emulator.save_state()
        self._play(FUSES)
        busy = [name for name, slot in TOOL_SLOTS.items() if self._walker.field(slot)]
        if self._walker.field(CARRIED) and self._walker.field(CARRIED, 4) != HELD:
            busy.append("throw")
        if busy and self._walker.has_control():
            raise HungError(f"{', '.join(busy)} without end ({habit}) {self._where()}")
        self._emulator.load_state(state)
        self._hold(())

    def _recover(self, habit: str) -> None:
        start = self.figures.frames
        while not self._walker.has_control():
            for button in ("A", "B", "START"):
                if self._walker.has_control():
                    break
                self._hold((button,))
                self._tick(2)
                self._hold(())
                self._tick(4)
            if self.figures.frames - start > LOST:
                raise HungError(f"no control any more ({habit}) {self._where()}")
        taken = self.figures.frames - start
        self.figures.longest_recovery = max(self.figures.longest_recovery, taken)

    def _has_way_out(self) -> bool:
        """Whether a rim of the room or a door can be reached over free ground, water or holes."""
        seen, new = set(), [self._walker.tile]
        while new:
            row, column = new.pop()
            if (row, column) in seen:
                continue
            seen.add((row, column))
            around = [(row + dy, column + dx) for dy, dx in VECTORS.values()]
            new += [tile for tile in around if self._is_free(*tile)]
        return any(map(self._leads_out, seen))

    def _leads_out(self, tile: tuple[int, int]) -> bool:
        row, column = tile
        at_rim = row in (0, ROWS - 1) or column in (0, COLUMNS - 1)
        return at_rim or self._walker.index(row, column) in DOORS

    def _is_free(self, row: int, column: int) -> bool:
        if not (0 <= row < ROWS and 0 <= column < COLUMNS):
            return False
        is_bush = self._walker.index(row, column) == BUSH
        return is_bush or self._walker.collision(row, column) in (0, HAZARD)


def main() -> int:
    parser = argparse.ArgumentParser(description="Play at random and look for hangs.")
    parser.add_argument("--rom", type=Path, help="ROM to play (default: shipped)")
    parser.add_argument("--frames", type=int, default=100_000, help="frames to play (100,000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random buttons (1)")
    args = parser.parse_args()
    start = time.perf_counter()
    soak = Soak(load_cartridge(args.rom), args.seed)
    try:
        soak.run(args.frames)
    except HungError as error:
        print(f"seed {args.seed}: {error}", file=sys.stderr)
        return 1
    seen = soak.figures
    print(
        f"seed {args.seed}: {seen.frames} frames from {len(soak.moments)} moments, "
        f"{len(seen.rooms)} rooms, {seen.checks} checks, {seen.deaths} episodes with a death, "
        f"longest stall {seen.longest_stall} frames, "
        f"longest until control {seen.longest_recovery} frames, "
        f"{time.perf_counter() - start:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
