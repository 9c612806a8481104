"""What a run has seen of its world: rooms of fragments in, figures for the service out."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rlaif.contracts.world_figures import (
    MOST_ROOMS,
    SEGMENTS_OF_A_ROOM,
    RoomSeen,
    SegmentName,
    WorldFigures,
)
from rlaif.trainer.play.rooms_played import (
    Room,
    RoomPicture,
    RoomPlace,
    RoomsPlayed,
    RoomTally,
)

Corner = tuple[int, int]
"""Left and top of a picture in its room."""


@dataclass
class WorldTally:
    """Counts and places of all rooms, over all environments of a run.

    A room whose place is not known was never entered: it is not told.
    """

    _tallies: dict[Room, RoomTally] = field(default_factory=dict)
    _places: dict[Room, RoomPlace] = field(default_factory=dict)
    _last_steps: dict[Room, int] = field(default_factory=dict)
    _segments: dict[Room, list[tuple[str, str]]] = field(default_factory=dict)
    _pictures: dict[Room, Corner] = field(default_factory=dict)

    def add(self, played: Iterable[RoomsPlayed], env_step: int) -> None:
        for rooms in played:
            for room, tally in rooms.tallies.items():
                self._tallies.setdefault(room, RoomTally()).add(tally)
                if tally.frames or tally.entries:
                    self._last_steps[room] = env_step
            self._places |= rooms.places
            for passed in rooms.passed:
                name = (passed.episode_id, passed.segment_id)
                for room in passed.rooms:
                    known = self._segments.setdefault(room, [])
                    self._segments[room] = [name, *known][:SEGMENTS_OF_A_ROOM]

    def wants(self, room: Room) -> bool:
        return room not in self._pictures

    def keep(self, room: Room, picture: RoomPicture) -> None:
        self._pictures[room] = (picture.left, picture.top)

    def figures(self) -> WorldFigures:
        known = sorted(
            (room for room in self._places if room in self._tallies),
            key=lambda room: (-self._last_steps.get(room, 0), room),
        )
        told = tuple(self._seen(room) for room in known[:MOST_ROOMS])
        return WorldFigures(rooms=told, rooms_left_out=len(known) - len(told))

    def state_dict(self) -> dict[str, Any]:
        """All of it as plain values, for a checkpoint; pictures are files of the run."""
        played = RoomsPlayed(tallies=self._tallies, places=self._places).plain()
        return {
            "tallies": played["tallies"],
            "places": played["places"],
            "last_steps": [[*room, step] for room, step in self._last_steps.items()],
            "segments": [
                [*room, [list(name) for name in names]] for room, names in self._segments.items()
            ],
            "pictures": [[*room, *corner] for room, corner in self._pictures.items()],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        played = RoomsPlayed.of({**state, "pictures": [], "passed": []})
        self._tallies, self._places = played.tallies, played.places
        self._last_steps = {(group, room): step for group, room, step in state["last_steps"]}
        self._segments = {
            (group, room): [(episode, segment) for episode, segment in names]
            for group, room, names in state["segments"]
        }
        self._pictures = {
            (group, room): (left, top) for group, room, left, top in state["pictures"]
        }

    def _seen(self, room: Room) -> RoomSeen:
        tally, place = self._tallies[room], self._places[room]
        corner = self._pictures.get(room)
        return RoomSeen(
            group=room[0],
            room=room[1],
            **vars(place),
            **vars(tally),
            last_step=self._last_steps.get(room, 0),
            picture=corner is not None,
            picture_left=corner[0] if corner else 0,
            picture_top=corner[1] if corner else 0,
            segments=tuple(
                SegmentName(episode_id=episode, segment_id=segment)
                for episode, segment in self._segments.get(room, ())
            ),
        )
