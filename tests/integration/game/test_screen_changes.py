"""What a person sees when the screen changes: rooms slide or fade, and no picture mixes two."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_running, is_scrolling

BAR = 16
"""Rows of pixels of the status bar, above the room."""

BEFORE = 8
"""Frames from the moment at which the old room is looked at to the change."""

STILL_FRAMES, LOOK_EVERY = 72, 3
"""A room is watched so long, so often, to know what moves in it by itself; before a death less."""

LONGEST = 600
"""Frames that a change may take: the longest is a death."""

SMOOTH = 16
"""Pixels that a scroll may move from one frame to the next."""

DIRECTIONS = ("up", "right", "down", "left")
KINDS = (*DIRECTIONS, "house", "cave", "season", "death", "menu")
FADES = ("house", "cave", "season", "death", "menu")


@dataclass
class Still:
    """A room that is looked at for a while.

    Attributes:
        picture: `[144, 160, 3]` uint8.
        steady: `[144, 160]` bool; where nothing moved and no sprite was.
    """

    picture: np.ndarray
    steady: np.ndarray


@dataclass
class Change:
    """One change of the screen, frame by frame.

    Attributes:
        before: The room that is left.
        after: What comes.
        pictures: One for each frame, `[144, 160, 3]` uint8.
        free: Where no sprite was drawn in it, `[144, 160]` bool.
        controlled: Whether the player had control in each frame, while it scrolled.
    """

    before: Still
    after: Still | None = None
    pictures: list[np.ndarray] = field(default_factory=list)
    free: list[np.ndarray] = field(default_factory=list)
    controlled: list[bool] = field(default_factory=list)


def without_sprites(oam):
    """Where a screen with this sprite table shows background, `[144, 160]` bool."""
    free = np.ones((144 + 32, 160 + 16), dtype=bool)
    for y, x in np.frombuffer(oam, dtype=np.uint8).reshape(40, 4)[:, :2].astype(int):
        free[y : y + 16, x : x + 8] = False
    return free[16:160, 8:168]


class Player:
    """Plays the walkthrough and looks at the screen."""

    def __init__(self, emulator, steps):
        self.emulator = emulator
        self._inputs = [button for button, frames in steps for _ in range(frames)]
        self.frame = 0
        self._oam = bytes(160)

    def u8(self, name):
        where = address(name)
        return self.emulator.read(where, where + 1)[0]

    def play(self, action=None):
        """One frame, drawn; by default the next one of the walkthrough."""
        if action is None:
            action = Action[self._inputs[self.frame]]
            self.frame += 1
        self._oam = self.emulator.read(0xFE00, 0xFEA0)
        self.emulator.step(action, 1, render=True)
        return self.emulator.screen(), without_sprites(self._oam)

    def skip(self, frame):
        while self.frame < frame:
            self.emulator.step(Action[self._inputs[self.frame]], 1)
            self.frame += 1

    def kind_of_change(self, season):
        """What begins in this frame, or None."""
        if is_scrolling(read_blocks(self.emulator)):
            return DIRECTIONS[self.u8("wScreenTransitionDirection") & 3]
        if self.u8("wOpenedMenuType"):
            return "menu"
        if self.u8("wLinkDeathTrigger"):
            return "death"
        if self.u8("wRoomStateModifier") != season:
            return "season"
        return {3: "house", 5: "cave"}.get(self.u8("wActiveGroup"))

    def still(self, frames=STILL_FRAMES):
        """Watch the room as it is; then all is as before."""
        state = self.emulator.save_state()
        pictures, steady = [], np.ones((144, 160), dtype=bool)
        self.play(Action.NOP)
        for _ in range(0, frames, LOOK_EVERY):
            for _ in range(LOOK_EVERY):
                picture, free = self.play(Action.NOP)
            pictures.append(picture)
            steady &= free
            steady &= (picture == pictures[0]).all(axis=2)
        self.emulator.load_state(state)
        return Still(pictures[0], steady)

    def obeys(self):
        ram = read_blocks(self.emulator)
        return has_control(ram) or self.u8("wMenuActiveState") == 1


def first_changes(player):
    """Frame before the first change of each kind."""
    found: dict[str, int] = {}
    was_playing, season, group = False, 0, 0
    while len(found) < len(KINDS):
        player.skip(player.frame + 1)
        ram = read_blocks(player.emulator)
        playing = is_running(ram) and has_control(ram)
        if was_playing and not playing:
            start = player.frame
        if playing:
            season, group = player.u8("wRoomStateModifier"), player.u8("wActiveGroup")
        elif is_running(ram):
            kind = player.kind_of_change(season)
            if kind in ("house", "cave") and player.u8("wActiveGroup") == group:
                kind = None
            if kind and kind not in found:
                found[kind] = start
        was_playing = playing
    return found


def watch(player, start, kind):
    """Play one change that begins at frame `start`, and look at every picture."""
    player.skip(start - BEFORE)
    change = Change(player.still(LOOK_EVERY if kind == "death" else STILL_FRAMES))
    begun = False
    for _ in range(LONGEST):
        picture, free = player.play()
        change.pictures.append(picture)
        change.free.append(free)
        if is_scrolling(read_blocks(player.emulator)):
            change.controlled.append(player.obeys())
        begun = begun or not player.obeys()
        if begun and player.obeys():
            break
    for _ in range(2):
        picture, free = player.play()
        change.pictures.append(picture)
        change.free.append(free)
    change.after = player.still()
    return change


@pytest.fixture(scope="module")
def changes(cartridge_folder):
    """The first change of each kind in the walkthrough."""
    steps = json.loads((cartridge_folder / "walkthrough.json").read_text())["steps"]
    rom = load_cartridge().data
    scout = Emulator(rom)
    starts = first_changes(Player(scout, steps))
    scout.close()
    emulator = Emulator(rom)
    player = Player(emulator, steps)
    in_order = sorted(starts.items(), key=lambda item: item[1])
    seen = {kind: watch(player, start, kind) for kind, start in in_order}
    emulator.close()
    return seen


def same(picture, still, where):
    """Whether two pictures agree wherever it counts."""
    return bool((picture == still)[where].all())


def composed(change, direction, done):
    """The room `done` pixels on its way out and the new one behind it, with what counts of it."""
    axis = 1 if direction in ("left", "right") else 0
    forwards = direction in ("right", "down")
    parts = [change.before, change.after] if forwards else [change.after, change.before]
    rows = slice(BAR, None)
    picture = np.concatenate([part.picture[rows] for part in parts], axis=axis)
    steady = np.concatenate([part.steady[rows] for part in parts], axis=axis)
    size = 160 if axis else 128
    start = done if forwards else size - done
    window = (slice(None), slice(start, start + size)) if axis else slice(start, start + size)
    return picture[window], steady[window]


def scrolled(change, direction, picture, free):
    """How far the scroll is in this picture; None when it is not one."""
    for done in range((160 if direction in ("left", "right") else 128) + 1):
        shown, steady = composed(change, direction, done)
        if same(picture[BAR:], shown, steady & free[BAR:]):
            return done
    return None


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_way_on_foot_slides_one_room_out_and_the_next_one_in(changes, direction):
    change = changes[direction]
    way = [
        scrolled(change, direction, picture, free)
        for picture, free in zip(change.pictures, change.free, strict=True)
    ]
    assert None not in way, way
    assert (way[0], way[-1]) == (0, 160 if direction in ("left", "right") else 128)
    steps = np.diff(way)
    assert steps.min() >= 0
    assert steps.max() <= SMOOTH
    assert not any(change.controlled)


@pytest.mark.parametrize("kind", DIRECTIONS)
def test_the_status_bar_stays_whole(changes, kind):
    change = changes[kind]
    bars = [still.picture[:BAR] for still in (change.before, change.after)]
    for number, (picture, free) in enumerate(zip(change.pictures, change.free, strict=True)):
        assert any(same(picture[:BAR], bar, free[:BAR]) for bar in bars), number


def dimmed(picture, still, where):
    """Whether a picture is this still with each colour made darker, or as it is."""
    seen, shown = picture[where], still[where]
    _, colours = np.unique(shown, axis=0, return_inverse=True)
    first = np.zeros((colours.max() + 1, 3), dtype=np.uint8)
    first[colours] = seen
    return bool((seen <= shown).all() and (first[colours] == seen).all())


@pytest.mark.parametrize("kind", FADES)
def test_a_door_a_season_a_death_and_the_satchel_fade_out_and_in(changes, kind):
    change = changes[kind]
    rooms, dark = [], 0
    for number, (picture, free) in enumerate(zip(change.pictures, change.free, strict=True)):
        if not picture.any():
            dark += 1
            continue
        shown = [
            name
            for name, still in (("old", change.before), ("new", change.after))
            if dimmed(picture, still.picture, still.steady & free)
        ]
        if not shown and kind == "death":
            shown = ["game over"]  # a screen of its own, between two fades
        assert shown, f"frame {number} is neither room"
        rooms.append(shown[0])
    assert dark >= 1
    assert rooms[0] == "old"
    assert rooms[-1] == "new"
    reported = [name for name, last in zip(rooms, ["", *rooms], strict=False) if name != last]
    assert reported == (["old", "game over", "new"] if kind == "death" else ["old", "new"])
