#!/usr/bin/env python3
"""Press buttons at random for a long time and check that the game never hangs.

    python3 soak.py                            100,000 frames of the shipped ROM
    python3 soak.py --frames 1000000 --seed 7  longer, and other buttons
    python3 soak.py --rom my.gbc               another build of it

Play starts repeatedly from states of walkthrough.json, each time with another habit. It fails if
the game stops counting frames, switches the screen off or selects another RAM bank, if the player
does not get control after a while of taps or is walled in, or if a bomb, a flame or a throw never
ends.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterable
from pathlib import Path

from walker import BUTTONS, Walker

from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.memory.memory_map import SMALL_ROOM, TILE_STRIDE, address
from rlaif.game.motion.grid import VECTORS

WALKTHROUGH = Path(__file__).resolve().parent / "walkthrough.json"
MOMENT_EVERY = 400  # frames of the walkthrough
COUNT_EVERY = 12  # frames between two readings of the counter
HANG = 120  # frames without counting; loading a room takes 5
LOST = 1500  # frames of taps until the player must have control
FUSES = 200  # frames after which nothing burns, flies or slides
EPISODES = (600, 3000, 12000)  # frames from one moment
CHECK = 0.01  # share of presses followed by a check
DIRECTIONS = BUTTONS[:4]
# How many buttons at once, frames held, which buttons.
HABITS = (
    ((1, 1), (1, 8), BUTTONS),
    ((1, 1), (8, 60), BUTTONS),
    ((1, 4), (1, 20), BUTTONS),
    ((1, 1), (4, 40), DIRECTIONS),
    ((1, 2), (2, 12), (*DIRECTIONS, "A", "B")),
    ((1, 2), (1, 90), ("START", "A", "B", *DIRECTIONS)),
)
TOOL_SLOTS = {"swing": 0xD600, "bomb": 0xD700, "flame": 0xD800, "block": 0xD140}
CARRIED, CARRIED_STATE, HELD = 0xDC00, 0xDC04, 1
SELECTED_BANK = 0xFF70
DOORS = (0xE6, 0xE8)
BUSH, HAZARD = 0xC4, 0x10
COLUMNS, ROWS = SMALL_ROOM


class HungError(Exception):
    """The game is stuck; the message says how."""


class Soak:
    """One emulator with random buttons."""

    def __init__(self, cartridge: Cartridge, seed: int) -> None:
        self._walker = Walker(cartridge)
        self._emulator = self._walker.emulator
        self._rng = random.Random(seed)
        self._held: frozenset[str] = frozenset()
        self.frames = self.checks = 0
        self.rooms: set[tuple[int, int]] = set()
        self._moments = self._starts()

    def _starts(self) -> list[bytes]:
        found, last = [], 0
        for button, frames in json.loads(WALKTHROUGH.read_text(encoding="ascii"))["steps"]:
            self._walker.press(button, frames)
            if self._walker.frames - last >= MOMENT_EVERY and self._walker.u8("wGameState") == 2:
                last = self._walker.frames
                found.append(self._emulator.save_state())
        return found

    def run(self, frames: int) -> None:
        while self.frames < frames:
            self._emulator.load_state(self._rng.choice(self._moments))
            end = self.frames + min(self._rng.choice(EPISODES), frames)
            many, long, buttons = self._rng.choice(HABITS)
            while self.frames < end:
                held = self._rng.sample(buttons, self._rng.randint(*many))
                self._play(held, self._rng.randint(*long))
                self._play((), self._rng.choice((1, 1, 2, 6)))
                self.rooms.add(self._walker.room)
                if self._rng.random() < CHECK:
                    self._check()
            self._check()

    def _play(self, held: Iterable[str], frames: int) -> None:
        self._held = frozenset(button.lower() for button in held)
        for first in range(0, frames, COUNT_EVERY):
            before, still = self._clock(), 0
            self._tick(min(COUNT_EVERY, frames - first))
            while self._clock() == before:
                still += 1
                self._require(still <= HANG, f"no frame counted in {HANG} frames")
                self._tick(1)
            self._require(self._emulator.screen_is_on, "the screen is off")
            bank = self._emulator.peek(None, SELECTED_BANK) & 7
            self._require(bank <= 1, "another RAM bank is selected")

    def _tick(self, frames: int) -> None:
        self.frames += frames
        for _ in range(frames):
            self._emulator.frame(self._held)

    def _clock(self) -> int:
        return self._walker.ram.u16(address("wPlaytimeCounter"))

    def _require(self, holds: bool, failure: str) -> None:
        if not holds:
            group, room = self._walker.room
            where = f"in room {group}:{room:02X} at {self._walker.tile}, frame {self.frames}"
            raise HungError(f"{failure} {where}")

    def _check(self) -> None:
        self.checks += 1
        start = self.frames
        while not self._walker.has_control():
            for button in ("A", "B", "START"):
                self._play((button,), 2)
                self._play((), 4)
                if self._walker.has_control():
                    break
            self._require(self.frames - start <= LOST, "no control any more")
        self._require(self._has_exit(), "walled in")
        state = self._emulator.save_state()
        self._play((), FUSES)
        ram = self._walker.ram
        busy = [name for name, slot in TOOL_SLOTS.items() if ram.u8(slot)]
        busy += ["throw"] if ram.u8(CARRIED) and ram.u8(CARRIED_STATE) != HELD else []
        endless = bool(busy) and self._walker.has_control()
        self._require(not endless, f"{', '.join(busy)} without end")
        self._emulator.load_state(state)

    def _has_exit(self) -> bool:
        """Whether an edge of the room or a door can be reached over free ground, water or holes."""
        ram = self._walker.ram
        layout, solid = address("wRoomLayout"), address("wRoomCollisions")
        seen, new = set(), [tuple(self._walker.tile)]
        while new:
            row, column = new.pop()
            at = row * TILE_STRIDE + column
            if (row, column) in seen or not (0 <= row < ROWS and 0 <= column < COLUMNS):
                continue
            if seen and ram.u8(layout + at) != BUSH and ram.u8(solid + at) not in (0, HAZARD):
                continue
            if row in (0, ROWS - 1) or column in (0, COLUMNS - 1) or ram.u8(layout + at) in DOORS:
                return True
            seen.add((row, column))
            new += [(row + dy, column + dx) for dy, dx in VECTORS.values()]
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description="Play at random and look for hangs.")
    parser.add_argument("--rom", type=Path, help="ROM to play (default: shipped)")
    parser.add_argument("--frames", type=int, default=100_000, help="frames to play (100,000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random buttons (1)")
    args = parser.parse_args()
    soak = Soak(load_cartridge(args.rom), args.seed)
    try:
        soak.run(args.frames)
    except HungError as error:
        print(f"seed {args.seed}: {error}", file=sys.stderr)
        return 1
    print(
        f"seed {args.seed}: {soak.frames} frames in {len(soak.rooms)} rooms, {soak.checks} checks"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
