"""Log of the rooms that the players of a runner visit, and of events there.

Calls by a runner:

    log.see(n, game)          # whenever environment n has other `square_facts` than before
    log.take(n, game)         # it has drawn a step, and `wanting` names it
    rooms = log.end_fragment(games)
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

from rlaif.contracts.game.captures import Capture
from rlaif.contracts.telemetry.world import LONG_STAY_FRAMES, NAME_CHARACTERS
from rlaif.game.description.words import GameWords
from rlaif.game.machine.pictures import png
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.rooms import STATUS_BAR_PIXELS, camera, map_place, room_size
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.planner_port import PlannerReply
from rlaif.trainer.rewards.game.facts import GameFacts

Room = tuple[int, int]

_TILE = 16
"""Pixels."""


@dataclass
class RoomTally:
    """Counts of one room; `rlaif.contracts.telemetry.readings.world` documents them."""

    entries: int = 0
    frames: int = 0
    deaths: int = 0
    long_stays: int = 0
    calls: int = 0

    def add(self, other: "RoomTally") -> None:
        self.entries += other.entries
        self.frames += other.frames
        self.deaths += other.deaths
        self.long_stays += other.long_stays
        self.calls += other.calls


@dataclass(frozen=True)
class RoomPlace:
    """Position and name of a room; None if unknown.

    Attributes:
        floor, column, line: On the map of its dungeon.
        width, height: Pixels.
    """

    name: str | None
    dungeon: int | None
    floor: int | None
    column: int | None
    line: int | None
    width: int
    height: int


@dataclass(frozen=True)
class RoomPicture:
    """Picture of a room.

    Attributes:
        png: Of the screen without its status bar, 160x128.
        left, top: Pixel of the room in its top left corner.
    """

    png: bytes
    left: int
    top: int


@dataclass(frozen=True)
class PassedThrough:
    """The rooms of a captured segment, in the order of first entry."""

    episode_id: str
    segment_id: str
    rooms: tuple[Room, ...]


@dataclass
class RoomsPlayed:
    """Rooms of all environments of one runner in one fragment."""

    tallies: dict[Room, RoomTally] = field(default_factory=dict)
    places: dict[Room, RoomPlace] = field(default_factory=dict)
    pictures: dict[Room, RoomPicture] = field(default_factory=dict)
    passed: list[PassedThrough] = field(default_factory=list)

    def tally(self, room: Room) -> RoomTally:
        return self.tallies.setdefault(room, RoomTally())

    def plain(self) -> dict[str, Any]:
        return {
            "tallies": _rows(self.tallies),
            "places": _rows(self.places),
            "pictures": _rows(self.pictures),
            "passed": [
                [each.episode_id, each.segment_id, [list(room) for room in each.rooms]]
                for each in self.passed
            ],
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "RoomsPlayed":
        return cls(
            tallies={room: RoomTally(*rest) for room, rest in _records(plain["tallies"])},
            places={room: RoomPlace(*rest) for room, rest in _records(plain["places"])},
            pictures={room: RoomPicture(*rest) for room, rest in _records(plain["pictures"])},
            passed=[
                PassedThrough(episode, segment, tuple((group, room) for group, room in rooms))
                for episode, segment, rooms in plain["passed"]
            ],
        )


def _rows(records: Mapping[Room, Any]) -> list[list[Any]]:
    return [[*room, *astuple(record)] for room, record in records.items()]


def _records(rows: Sequence[Sequence[Any]]) -> list[tuple[Room, Sequence[Any]]]:
    return [((row[0], row[1]), row[2:]) for row in rows]


@dataclass
class _Stay:
    """One player's stay in a room, with the frames of the episode at its start and last count."""

    room: Room
    since: int
    counted: int
    is_long: bool = False


class RoomLog:
    """Follows N environments.

    Attributes:
        seen: The last processed `square_facts` of each environment.
        wanting: Environments whose room has no picture yet: they draw their next step.
    """

    def __init__(self, count: int, words: GameWords, *, pictures: bool) -> None:
        self._words = words
        self._pictures = pictures
        self.seen: list[GameFacts | None] = [None] * count
        self.wanting: set[int] = set()
        self._stays: list[_Stay | None] = [None] * count
        self._dead = [False] * count
        self._known: set[Room] = set()
        self._pictured: set[Room] = set()
        self._played = RoomsPlayed()

    def begin_episode(self, n: int, game: GameEnv) -> None:
        """Start or resume an episode in environment `n`, which counts as entering the room."""
        self._stays[n], self._dead[n] = None, game.square_facts.dead
        self.wanting.discard(n)
        self.see(n, game)

    def end_episode(self, n: int, game: GameEnv) -> None:
        self._leave(n, game.frames)

    def see(self, n: int, game: GameEnv) -> None:
        if self._words.game and game.cartridge.game != self._words.game:
            return  # of several worlds, the first is shown
        facts = self.seen[n] = game.square_facts
        stay = self._stays[n]
        if facts.dead != self._dead[n]:
            self._dead[n] = facts.dead
            if facts.dead and stay is not None:
                self._played.tally(stay.room).deaths += 1
        if not facts.settled:
            return  # between two rooms, or on the title screen
        room = (facts.group, facts.room)
        if stay is None or stay.room != room:
            self._leave(n, game.frames)
            self._enter(n, room, game)

    def take(self, n: int, game: GameEnv) -> None:
        facts, stay = game.square_facts, self._stays[n]
        if stay is None or stay.room != (facts.group, facts.room):
            return
        if not (facts.settled and facts.control) or facts.menu or facts.text or facts.dead:
            return
        self.wanting.discard(n)
        if stay.room in self._pictured:
            return
        self._pictured.add(stay.room)
        left, top = camera(game.emulator, read_blocks(game.emulator))
        view = game.emulator.screen()[STATUS_BAR_PIXELS:]
        self._played.pictures[stay.room] = RoomPicture(png(view), left & 0xFF, top & 0xFF)

    def note_reply(self, reply: PlannerReply) -> None:
        """Count a call of the language model in the room of its question, unless it was cached."""
        group, _, room = (reply.question.evidence.room or "").partition("/")
        if not reply.cached and group.isdecimal() and room.isdecimal():
            self._played.tally((int(group), int(room))).calls += 1

    def note_capture(self, capture: Capture) -> None:
        passed = PassedThrough(capture.episode_id, capture.segment_id, capture.rooms or ())
        self._played.passed.append(passed)

    def end_fragment(self, games: Sequence[GameEnv]) -> RoomsPlayed:
        for stay, game in zip(self._stays, games, strict=True):
            if stay is not None:
                self._count_stay(stay, game.frames)
        played, self._played = self._played, RoomsPlayed()
        return played

    def _enter(self, n: int, room: Room, game: GameEnv) -> None:
        self._stays[n] = _Stay(room, since=game.frames, counted=game.frames)
        self._played.tally(room).entries += 1
        if room not in self._known:
            self._known.add(room)
            self._played.places[room] = place_of(read_blocks(game.emulator), room, self._words)
        if self._pictures and room not in self._pictured:
            self.wanting.add(n)

    def _leave(self, n: int, frames: int) -> None:
        stay, self._stays[n] = self._stays[n], None
        self.wanting.discard(n)
        if stay is not None:
            self._count_stay(stay, frames)

    def _count_stay(self, stay: _Stay, frames: int) -> None:
        tally = self._played.tally(stay.room)
        tally.frames += frames - stay.counted
        stay.counted = frames
        if not stay.is_long and frames - stay.since >= LONG_STAY_FRAMES:
            stay.is_long = True
            tally.long_stays += 1


def place_of(ram: RamBlocks, room: Room, words: GameWords) -> RoomPlace:
    """The place of the room that the player is in."""
    dungeon, floor, column, line = map_place(ram)
    name = words.rooms.get(room)
    if name is None and dungeon is not None and dungeon < len(words.dungeons):
        name = words.dungeons[dungeon]
    columns, rows = room_size(ram)
    return RoomPlace(
        name=None if name is None else name[:NAME_CHARACTERS],
        dungeon=dungeon,
        floor=floor,
        column=column,
        line=line,
        width=columns * _TILE,
        height=rows * _TILE,
    )
