#!/usr/bin/env python3
"""Collect the moments of moments.json: 50 texts and 50 puzzles of Seedling Vale.

    .venv/bin/python benchmarks/collect_moments.py

Seeded. From places along the walkthrough it goes up to whoever talks and whatever is rare in a
room, presses A and keeps the moment when a text opens; in rooms with a puzzle it wanders, lights
some of the torches, pushes and treads, and keeps where that led to. Texts that nobody had read come
first, so that as many different ones are there as it finds. Half a minute.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from rlaif.game.description.words import GameWords, words_of
from rlaif.game.machine.actions import Action, encode_actions
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.entities import talkables
from rlaif.game.memory.memory_map import SMALL_ROOM, TILE_STRIDE, address
from rlaif.game.memory.predicates import has_control, is_dialog_state, is_puzzle_state
from rlaif.game.memory.state import GameState, decode
from rlaif.game.navigation.goals import Beside, Reach, Target
from rlaif.game.navigation.goals import Place as AtPixel
from rlaif.game.navigation.grid import TilePlace
from rlaif.game.navigation.navigator import Navigator, TripSettings
from rlaif.game.navigation.room_graph import RoomGraph, RoomId
from rlaif.game.navigation.room_watcher import FACING_ACTIONS, standing
from rlaif.testing.data.resolution import OFFERS, PUZZLES, is_settled
from rlaif.testing.data.situations import SavedMoment, play, save_moments
from rlaif.testing.data.walkthrough import FRAME_SKIP, pressed

ROOT = Path(__file__).parents[1]
WALKTHROUGH = ROOT / "libs/game/cartridge/walkthrough.json"
OUT = ROOT / "tests/integration/planning/moments.json"
SEED = 16
OF_EACH = 50
RARE = 2
"""A tile that stands at most so often in a room may be something to read or to open."""
TRIP = 150
"""Decision steps after which a trip to a person is given up."""
LONG_TRIP = 500
VILLAGE = (0, 0x77)
PEOPLE = tuple(RoomId(*room) for room in ((0, 0x77), (3, 0x10), (3, 0x11), (3, 0x12), (0, 0x67)))
"""Where people live who say another thing later in the story."""
TURNS_A_PAGE = 0.3
TRIES_A_PLACE = 12
APART = {(False, False): 600, (True, False): 60, (True, True): 16}
"""Frames between places: without a puzzle, with one, with one and foes, who are soon beaten."""
MOST_OFFERS = 10
"""Of the fifty texts: they alone want the right choice, and not only to be read."""
LEAST_HEALTH = 8
"""Quarter hearts: twice what a takeover may lose."""
HOP_HALL, PART_OF_HOP_HALL = 0x1D, 64
SHARES = {0xC7: 15, 0x1B: 12, HOP_HALL: 8, 0x13: 15}
"""Room → how many of its moments: Ember Cave, Button Room, Hop Hall, Torch Hall."""
WAYS = (Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT)

Found = tuple[int, str, RamBlocks]
"""Frame of the walkthrough, presses since, and the memory then."""


class Player:
    """Plays from a place of the walkthrough and keeps what it pressed."""

    def __init__(
        self, emulator: PyBoyEmulator, frame: int, state: bytes, pressed: tuple[int, ...] = ()
    ) -> None:
        self._emulator, self.frame, self._state, self._pressed = emulator, frame, state, pressed
        self.back()

    def back(self) -> None:
        """To where it starts."""
        self._emulator.load_state(self._state)
        self.presses = list(self._pressed)

    def from_here(self) -> "Player":
        """A player whose start is this moment."""
        presses = tuple(self.presses)
        return Player(self._emulator, self.frame, self._emulator.save_state(), presses)

    @property
    def ram(self) -> RamBlocks:
        return read_blocks(self._emulator)

    def press(self, action: Action, steps: int = 1) -> None:
        for _ in range(steps):
            self._emulator.step(action, FRAME_SKIP)
            self.presses.append(action)

    def go(self, target: Target, graph: RoomGraph | None = None, steps: int = TRIP) -> bool:
        """Whether the trip ended where it should."""
        navigator = Navigator(graph, TripSettings(most_steps=steps, closes_text=False))
        navigator.go(target)
        for _ in range(steps):
            ram = self.ram
            if is_dialog_state(ram):
                return False
            decision = navigator.next(ram)
            if decision.done:
                return decision.status == "arrived"
            self.press(decision.action)
        return False

    def face(self, tile: TilePlace) -> None:
        here = standing(self.ram)
        off_y, off_x = tile.row * 16 + 8 - here.y, tile.column * 16 + 8 - here.x
        if abs(off_y) > abs(off_x):
            self.press(Action.DOWN if off_y > 0 else Action.UP)
        else:
            self.press(Action.RIGHT if off_x > 0 else Action.LEFT)

    def kept(self) -> Found:
        return self.frame, encode_actions(self.presses), self.ram


class Story:
    """The walkthrough, played once: the ways between rooms, and places with control.

    A place is the first moment in a room with these possessions, and one every so many frames;
    more of them where there is a puzzle.
    """

    def __init__(self, emulator: PyBoyEmulator) -> None:
        learns = Navigator()
        self.graph = learns.graph
        self.places: list[Place] = []
        self.read: list[tuple[int, RamBlocks]] = []
        seen, last = None, 0
        for frame, action in enumerate(pressed(WALKTHROUGH), start=1):
            emulator.step(action, 1)
            if frame % FRAME_SKIP:
                continue
            ram = read_blocks(emulator)
            learns.watch(ram)
            if is_dialog_state(ram):
                self.read.append((frame, ram))
            puzzle = is_puzzle_state(ram)
            state = decode(ram) if has_control(ram) else None
            if state is None:
                continue
            here = (state.group, state.room, state.treasures, state.puzzle)
            apart = APART[puzzle, puzzle and state.enemies_left > 0]
            if here != seen or frame - last >= apart:
                seen, last = here, frame
                self.places.append(Place(frame, emulator.save_state(), state, puzzle))


class Place(NamedTuple):
    frame: int
    state: bytes
    told: GameState
    puzzle: bool


def worth_a_look(ram: RamBlocks) -> list[TilePlace]:
    """Who talks, and the tiles that are rare in this room and not open ground."""
    columns, rows = SMALL_ROOM
    people = [TilePlace(one.y // 16, one.x // 16) for one in talkables(ram)]
    layout, walls = (
        ram.block(address(name), rows * TILE_STRIDE) for name in ("wRoomLayout", "wRoomCollisions")
    )
    tiles = [(row, column) for row in range(rows) for column in range(columns)]
    often = Counter(layout[row * TILE_STRIDE + column] for row, column in tiles)
    rare = [
        TilePlace(row, column)
        for row, column in tiles
        if walls[at := row * TILE_STRIDE + column] and often[layout[at]] <= RARE
    ]
    return [*people, *(tile for tile in rare if tile not in people)]


def texts(emulator: PyBoyEmulator, story: Story, draw: random.Random) -> Iterator[Found]:
    """Moments in which a text is open: those of the walkthrough, and those that are looked for."""
    for frame, ram in story.read:
        yield frame, "", ram
    for place in story.places:
        yield from _read_here(Player(emulator, place.frame, place.state), draw)
    visits = {place.told.treasures: place for place in story.places if place.told.group == 0}
    at_home = {
        place.told.treasures: place
        for place in story.places
        if (place.told.group, place.told.room) == VILLAGE
    }
    for place in (*visits.values(), *at_home.values()):
        player = Player(emulator, place.frame, place.state)
        for room in PEOPLE:
            player.back()
            if player.go(Reach(room), story.graph, LONG_TRIP):
                player.press(Action.NOP, 4)
                yield from _read_here(player.from_here(), draw)


def _read_here(player: Player, draw: random.Random) -> Iterator[Found]:
    room = standing(player.ram).room
    for tile in worth_a_look(player.ram):
        player.back()
        if player.go(Beside(room, tile)):
            player.face(tile)
            player.press(Action.A)
        player.press(Action.NOP, draw.randint(2, 12))
        if draw.random() < TURNS_A_PAGE:
            player.press(Action.A)
            player.press(Action.NOP, draw.randint(2, 8))
        if is_dialog_state(player.ram):
            yield player.kept()


def puzzles(emulator: PyBoyEmulator, story: Story, draw: random.Random) -> Iterator[Found]:
    """Moments with something left to do, after some of it was done or undone."""
    for place in (place for place in story.places if place.puzzle):
        player = Player(emulator, place.frame, place.state)
        for _ in range(TRIES_A_PLACE):
            player.back()
            for _ in range(draw.randint(0, 3)):
                _meddle(player, draw)
            _wander(player, draw.randint(0, 40), draw)
            player.press(Action.NOP, 4)
            ram = player.ram
            if is_puzzle_state(ram) and standing(ram).room[0] == place.told.group and _fair(ram):
                yield player.kept()


def _fair(ram: RamBlocks) -> bool:
    """Not solved yet; health to lose, and seeds for what is to burn."""
    state = decode(ram)
    torches = sum(element.kind == "torch" for element in state.puzzle)
    enough = state.health >= LEAST_HEALTH and state.ember_seeds >= torches
    return enough and not is_settled(ram, PUZZLES[state.group, state.room])


def _meddle(player: Player, draw: random.Random) -> None:
    """Go up to something that is left to do, and lean on it or use what is on B; or step on it."""
    state = decode(player.ram)
    if not state.puzzle or not state.puzzle_state:
        return
    element = draw.choice(state.puzzle)
    room, tile = RoomId(state.group, state.room), TilePlace(element.row, element.column)
    if element.kind == "button":
        player.go(AtPixel(room, tile.column * 16 + 8, tile.row * 16 + 8), steps=60)
    elif player.go(Beside(room, tile), steps=80):
        player.face(tile)
        if element.kind == "block":
            way = FACING_ACTIONS[player.ram.u8(address("w1Link.direction")) & 3]
            player.press(way, 8)
        else:
            player.press(Action.B)
        player.press(Action.NOP, 12)


def _wander(player: Player, steps: int, draw: random.Random) -> None:
    while steps > 0:
        held = min(steps, draw.randint(1, 8))
        player.press(draw.choice((*WAYS, *WAYS, Action.A, Action.B, Action.NOP)), held)
        steps -= held


def chosen(
    found: list[Found], kind: Callable[[Found], object], draw: random.Random, most: int = OF_EACH
) -> list[Found]:
    """So many, as different as they come: round after round one of each kind that is left."""
    by_kind: dict[object, list[Found]] = {}
    draw.shuffle(found)
    for one in found:
        by_kind.setdefault(kind(one), []).append(one)
    taken: list[Found] = []
    while len(taken) < most:
        for left in by_kind.values():
            if left and len(taken) < most:
                taken.append(left.pop())
    return taken


def text_kind(found: Found) -> object:
    """Which text it is; an offer is another where purse, need or what is owned is another."""
    state = decode(found[2])
    if state.text_id is None or state.text_id not in OFFERS:
        return state.text_id
    offer = OFFERS[state.text_id]
    purse, need = state.rupees >= offer.price, not state.owns(offer.treasure)
    return state.text_id, purse, need, state.text_choice, state.treasures


def puzzle_kind(found: Found) -> object:
    """What is left to do in which room, whether foes are there, and on which side of the holes."""
    state = decode(found[2])
    part = state.x // PART_OF_HOP_HALL if state.room == HOP_HALL else 0
    return state.group, state.room, tuple(sorted(state.puzzle)), state.enemies_left > 0, part


def named(
    found: list[Found],
    mode: Literal["dialog", "puzzle"],
    words: GameWords,
    emulator: PyBoyEmulator,
    states: Mapping[int, bytes],
) -> Iterator[SavedMoment]:
    """The moments in the order of the walkthrough, each with its digest."""
    ordered = sorted(found, key=lambda one: one[:2])
    for number, (frame, presses, ram) in enumerate(ordered, start=1):
        state = decode(ram)
        emulator.load_state(states[frame])
        play(emulator, presses)
        to_do = [f"{element.kind} {element.column},{element.row}" for element in state.puzzle]
        yield SavedMoment(
            name=f"{mode}-{number:02d} {words.place(state)}",
            mode=mode,
            frame=frame,
            presses=presses,
            digest=emulator.ram_digest(),
            about=words.text(state) or "" if mode == "dialog" else " ".join(to_do),
        )


def states_at(emulator: PyBoyEmulator, frames: Collection[int]) -> dict[int, bytes]:
    """Save states after these frames of the walkthrough; the emulator is at power-on."""
    states = {}
    for frame, action in enumerate(pressed(WALKTHROUGH), start=1):
        emulator.step(action, 1)
        if frame in frames:
            states[frame] = emulator.save_state()
    return states


def collected() -> list[SavedMoment]:
    """All moments; half a minute."""
    cartridge = load_cartridge()
    words = words_of(cartridge.game, cartridge.data)
    draw = random.Random(SEED)
    emulator = PyBoyEmulator(cartridge.data)
    story = Story(emulator)
    said = list(texts(emulator, story, draw))
    offers = [one for one in said if decode(one[2]).text_id in OFFERS]
    told = [one for one in said if decode(one[2]).text_id not in OFFERS]
    read = [
        *chosen(offers, text_kind, draw, MOST_OFFERS),
        *chosen(told, text_kind, draw, OF_EACH - MOST_OFFERS),
    ]
    left = list(puzzles(emulator, story, draw))
    solved = [
        one
        for room, most in SHARES.items()
        for one in chosen(
            [it for it in left if decode(it[2]).room == room], puzzle_kind, draw, most
        )
    ]
    emulator.close()
    emulator = PyBoyEmulator(cartridge.data)
    states = states_at(emulator, {frame for frame, _, _ in (*read, *solved)})
    moments = [
        *named(read, "dialog", words, emulator, states),
        *named(solved, "puzzle", words, emulator, states),
    ]
    emulator.close()
    return moments


def main() -> None:
    moments = collected()
    save_moments(OUT, moments)
    for one in moments:
        print(one.name, one.frame, len(one.presses), one.about)


if __name__ == "__main__":
    main()
