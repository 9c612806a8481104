"""Exported segments made by hand, with states as `rlaif.game.description.describe` returns them."""

import hashlib
import struct
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rlaif.contracts.events import SegmentExported
from rlaif.contracts.game.names import SEEDLING_ROOMS, SEEDLING_VALE
from rlaif.contracts.game.segments import SegmentManifest, StateRecord, StoredFile
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore

_PUZZLE_PARTS = ("buttons_pressed", "switches_on", "toggles_on", "torches_lit")
_AREAS = {0: "overworld", 3: "indoors", 4: "underground", 5: "underground"}
_DUNGEON_GROUP = 4

CREATED_AT = datetime(2026, 1, 1, tzinfo=UTC)


def described_state(
    step: int = 0, *, place: str = "East Field", says: str | None = None, **changes: Any
) -> dict[str, Any]:
    """Description of a state in which the player has walked `step` pixels to the right.

    Args:
        step: Pixels walked.
        place: Room of Seedling Vale.
        says: Text of a text box; the player has no control meanwhile.
        **changes: Top-level fields to replace.
    """
    room = described_room(place)
    inside = "dungeon" in room
    return {
        "game": SEEDLING_VALE,
        "room": room,
        "player": {"x": 20 + step, "y": 64, "facing": "right", "hearts": 3.0, "max_hearts": 3.0},
        "rupees": 10,
        "bombs": 0,
        "keys": 0 if inside else None,
        "items": ["sword"],
        "dungeon_items": [] if inside else None,
        "essences": 0,
        "season": "spring",
        "seasons_owned": [],
        "flags": {
            "dialog": says is not None,
            "menu": False,
            "control": says is None,
            "moving_to_next_room": False,
            "cutscene": False,
            "dying": False,
        },
        # The game numbers its texts; here equal texts have equal numbers.
        "text_id": None if says is None else zlib.crc32(says.encode()) & 0xFFFF,
        "text": says,
        "puzzle": dict.fromkeys(_PUZZLE_PARTS, 0),
        "entities": [],
        "rooms_visited": 4,
        "enemies_defeated": 0,
        "deaths": 0,
    } | changes


def described_room(place: str, **changes: Any) -> dict[str, Any]:
    """Description of a room of Seedling Vale by name, with some fields replaced."""
    group, number = next(where for where, name in SEEDLING_ROOMS.items() if name == place)
    room: dict[str, Any] = {
        "group": group,
        "room": number,
        "name": place,
        "large": False,
        "area": _AREAS[group],
        "item_taken": False,
        "event_done": False,
        "enemies_left": 0,
        "visited_neighbours": ["N"],
    }
    if group == _DUNGEON_GROUP:
        room["dungeon"] = 1
    return room | changes


def state_records(states: Sequence[dict[str, Any]]) -> list[StateRecord]:
    """The lines of states.jsonl of a segment with four game frames per emulator step."""
    return [
        StateRecord(step=at, frame=4 * at + 4, action="RIGHT", state=state)
        for at, state in enumerate(states)
    ]


def screen_png(width: int = 160, height: int = 144) -> bytes:
    """A black PNG of the game's screen; other sizes change only the header."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(161 * 144))
    chunks = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def segment_manifest(
    episode_id: str, segment_id: str, observations: StoredFile, *, steps: int, **changes: Any
) -> SegmentManifest:
    """Manifest of a segment of `steps` emulator steps, with some fields replaced."""
    return SegmentManifest.model_validate(
        {
            "segment_id": segment_id,
            "episode_id": episode_id,
            "run_id": "run-1",
            "capture_key": keys.capture(episode_id, segment_id),
            "capture_sha256": "0" * 64,
            "rom_sha256": "0" * 64,
            "layout_version": "layout-1",
            "frames": 4 * steps,
            "decision_steps": steps,
            "frame_skip": 4,
            "start_step": 0,
            "ended": "running",
            "end_ram_sha256": "0" * 64,
            "states": StoredFile(key=f"{observations.key}.none", sha256="0" * 64, size_bytes=0),
            "observations": observations,
            "pictures": (),
            "picture_steps": (),
            "exporter_version": "0",
            "env_step": 4096,
            "created_at": CREATED_AT,
        }
        | changes
    )


def write_segment(
    store: ObjectStore,
    segment_id: str = "seg-1",
    *,
    states: Sequence[dict[str, Any]] | None = None,
    pictures: int = 6,
    picture: bytes | None = None,
    lines: bytes | None = None,
    leave_out: str | None = None,
    manifest_of: str | None = None,
    states_file: StoredFile | None = None,
) -> SegmentExported:
    """Write a segment of episode `ep-1` like the exporter, valid or corrupted.

    Args:
        store: The store.
        segment_id: Its id.
        states: One description per emulator step; None: a walk of 75 steps.
        pictures: Number of pictures.
        picture: Bytes of each picture; None: a black screen.
        lines: Bytes of states.jsonl, instead of the states.
        leave_out: Name of a file that is not written although the manifest names it.
        manifest_of: Segment id in the manifest.
        states_file: Entry of states.jsonl in the manifest, instead of the correct one.

    Returns:
        The event that announces it.
    """
    made = state_records(states or [described_state(step) for step in range(75)])
    body = "\n".join(record.model_dump_json() for record in made).encode()

    def put(name: str, data: bytes) -> StoredFile:
        key = keys.segment("ep-1", segment_id, name)
        if name != leave_out:
            store.put(key, data)
        return StoredFile(key=key, sha256=_sha256(data), size_bytes=len(data))

    manifest = segment_manifest(
        "ep-1",
        manifest_of or segment_id,
        put("observations.npy", b"not read by judges"),
        steps=len(made),
        start_step=900,
        states=states_file or put("states.jsonl", body if lines is None else lines),
        pictures=tuple(
            put(f"frames/{at:06}.png", picture or screen_png()) for at in range(pictures)
        ),
        picture_steps=tuple(range(pictures)),
        env_step=123456,
    )
    file = put("manifest.json", manifest.model_dump_json().encode())
    return SegmentExported(
        segment_id=segment_id,
        episode_id="ep-1",
        run_id="run-1",
        manifest_key=file.key,
        manifest_sha256=file.sha256,
        frames=manifest.frames,
        decision_steps=manifest.decision_steps,
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
