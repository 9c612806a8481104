"""A run's report on its world: rooms of a fragment, their sum over the run, their pictures."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.telemetry.world import LONG_STAY_FRAMES, MAX_ROOMS, SEGMENTS_OF_A_ROOM
from rlaif.game.description.words import NO_WORDS
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.trainer.learner.progress import WorldTally
from rlaif.trainer.play.followers import room_log
from rlaif.trainer.play.followers.room_log import (
    PassedThrough,
    RoomLog,
    RoomPicture,
    RoomPlace,
    RoomsPlayed,
    RoomTally,
)
from rlaif.trainer.play.planner_port import PlannerQuestion, PlannerReply
from rlaif.trainer.rewards.game.facts import GameFacts, Progress
from rlaif.trainer.run_folder.spool import RoomPictures
from rlaif.trainer.service.uploader import RoomUploader

FIELD, POND = (0, 0x78), (0, 0x67)
PLACE = RoomPlace("East Field", None, None, None, None, 160, 128)
NOTHING = GameFacts(
    0, 0, 8, 8, 12, True, True, True, False, False, False, Progress(0, 0, 0, b"", 0)
)


class Play:
    """A game that stands where it is put; its log sees every step."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(room_log, "read_blocks", lambda _emulator: None)
        monkeypatch.setattr(room_log, "place_of", lambda _ram, _room, _words: PLACE)
        self.game: Any = SimpleNamespace(square_facts=NOTHING, frames=0, steps=0, emulator=None)
        self.log = RoomLog(1, NO_WORDS, pictures=True)

    def begin(self, room: tuple[int, int]) -> None:
        self.game.frames = self.game.steps = 0
        self.game.square_facts = NOTHING._replace(group=room[0], room=room[1])
        self.log.begin_episode(0, self.game)

    def step(self, frames: int = 4, **facts: Any) -> None:
        self.game.frames += frames
        self.game.steps += 1
        if facts:
            self.game.square_facts = self.game.square_facts._replace(**facts)
        if self.game.square_facts is not self.log.seen[0]:
            self.log.see(0, self.game)

    def end_fragment(self) -> RoomsPlayed:
        return self.log.end_fragment([self.game])


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    return Play(monkeypatch)


def test_time_and_entries_are_counted_where_the_player_is(play: Play) -> None:
    play.begin(FIELD)
    play.step()
    play.step(x=9)
    first = play.end_fragment()
    assert first.tallies == {FIELD: RoomTally(entries=1, frames=8)}
    assert first.places == {FIELD: PLACE}
    play.step(room=POND[1], settled=False)  # the screen scrolls: still the old room
    play.step(settled=True)
    play.step(room=FIELD[1])
    play.log.end_episode(0, play.game)
    second = play.end_fragment()
    assert second.tallies == {
        FIELD: RoomTally(entries=1, frames=8),
        POND: RoomTally(entries=1, frames=4),
    }
    assert second.places == {POND: PLACE}, "a place is reported once"


def test_a_death_counts_once_and_where_it_happened(play: Play) -> None:
    play.begin(FIELD)
    play.step(dead=True)
    play.step(x=1)
    play.step(dead=False, room=POND[1])  # another life, elsewhere
    deaths = {room: tally.deaths for room, tally in play.end_fragment().tallies.items()}
    assert deaths == {FIELD: 1, POND: 0}


def test_a_long_stay_counts_once_however_long_it_is(play: Play) -> None:
    play.begin(FIELD)
    play.step(LONG_STAY_FRAMES - 1)
    assert play.end_fragment().tallies[FIELD].long_stays == 0
    play.step(1)
    assert play.end_fragment().tallies[FIELD].long_stays == 1
    play.step(10 * LONG_STAY_FRAMES)
    play.step(room=POND[1])
    assert play.end_fragment().tallies[FIELD].long_stays == 0


def test_a_new_room_wants_a_picture_until_it_can_be_seen(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_log, "camera", lambda _emulator, _ram: (0, 0))
    monkeypatch.setattr(room_log, "png", lambda picture: bytes(picture))
    play.game.emulator = SimpleNamespace(screen=lambda: list(range(144)))
    play.begin(FIELD)
    assert play.log.wanting == {0}
    play.step(text=True)
    play.log.take(0, play.game)
    assert play.log.wanting == {0}, "a text covers it"
    play.step(text=False)
    play.log.take(0, play.game)
    assert play.log.wanting == set()
    (picture,) = play.end_fragment().pictures.items()
    assert picture == (FIELD, RoomPicture(bytes(range(16, 144)), 0, 0)), "without the status bar"
    play.step(room=POND[1])
    assert play.log.wanting == {0}
    play.step(room=FIELD[1])
    assert play.log.wanting == set(), "there is one of this room"


def test_a_question_counts_where_it_was_asked_and_a_cached_answer_does_not(play: Play) -> None:
    def reply(room: str | None, *, cached: bool = False) -> PlannerReply:
        asked = PlannerQuestion(0, "dialog", "plan", "", Briefing(room=room))
        return PlannerReply(asked, "timeout", cached=cached)

    for each in (reply("0/120"), reply("0/120"), reply("0/120", cached=True), reply(None)):
        play.log.note_reply(each)
    assert play.end_fragment().tallies == {FIELD: RoomTally(calls=2)}


def full() -> RoomsPlayed:
    return RoomsPlayed(
        tallies={FIELD: RoomTally(2, 800, 1, 1, 3), POND: RoomTally(1, 40)},
        places={FIELD: PLACE, POND: RoomPlace(None, 1, 0, 3, 4, 240, 176)},
        pictures={FIELD: RoomPicture(b"png", 0, 0)},
        passed=[PassedThrough("e", "s1", (POND, FIELD))],
    )


def test_a_run_adds_up_its_rooms_and_reports_the_latest_first() -> None:
    world = WorldTally()
    world.add([full(), full()], env_step=1000)
    world.add([RoomsPlayed(tallies={POND: RoomTally(1, 4)})], env_step=2000)
    pond, field = world.figures().rooms
    assert (pond.room, pond.entries, pond.frames, pond.last_step) == (0x67, 3, 84, 2000)
    assert (pond.dungeon, pond.floor, pond.column, pond.line, pond.width) == (1, 0, 3, 4, 240)
    assert (field.name, field.deaths, field.long_stays, field.calls) == ("East Field", 2, 2, 6)
    assert field.last_step == 1000
    assert not field.picture
    world.keep(FIELD, RoomPicture(b"png", 16, 8))
    seen = world.figures().rooms[1]
    assert (seen.picture, seen.picture_left, seen.picture_top) == (True, 16, 8)
    assert not world.wants(FIELD)


def test_the_report_of_a_world_is_bounded() -> None:
    world = WorldTally()
    rooms = [(group, number) for group in range(4) for number in range(256)]
    world.add(
        [
            RoomsPlayed(
                tallies={room: RoomTally(1) for room in rooms},
                places=dict.fromkeys(rooms, PLACE),
                passed=[PassedThrough("e", f"s{n}", (FIELD,)) for n in range(20)],
            )
        ],
        env_step=1,
    )
    figures = world.figures()
    assert (len(figures.rooms), figures.rooms_left_out) == (MAX_ROOMS, 1024 - MAX_ROOMS)
    (field,) = (room for room in figures.rooms if (room.group, room.room) == FIELD)
    assert [each.segment_id for each in field.segments] == [
        f"s{n}" for n in range(19, 19 - SEGMENTS_OF_A_ROOM, -1)
    ]
    assert len(figures.model_dump_json()) < 300_000


def test_a_resumed_run_counts_on() -> None:
    world, resumed = WorldTally(), WorldTally()
    world.add([full()], env_step=1000)
    world.keep(FIELD, RoomPicture(b"png", 0, 0))
    resumed.load_state_dict(world.state_dict())
    assert resumed == world
    assert resumed.figures() == world.figures()


def test_pictures_of_rooms_are_stored_once(tmp_path: Path) -> None:
    store, folder = FileStore(tmp_path / "store"), tmp_path / "run"
    uploader = RoomUploader(lambda: ("run-1", folder), store)
    assert uploader.store_new() == 0, "no room was seen yet"
    RoomPictures.of_run(folder).keep(0, 0x78, b"field")
    RoomPictures.of_run(folder).keep(4, 0x1C, b"cave")
    (folder / "rooms" / "notes.txt").write_text("no picture")
    assert uploader.store_new() == 2
    assert store.get(keys.room_picture("run-1", 4, 0x1C)) == b"cave"
    assert uploader.store_new() == 0
    again = RoomUploader(lambda: ("run-1", folder), store)
    assert again.store_new() == 2, "a restart changes nothing"
    assert RoomUploader(lambda: None, store).store_new() == 0
