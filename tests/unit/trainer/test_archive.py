"""The archive of states: atomic, one state per cell, bounded, bound to one game."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.game.captures import EmulatorIdentity, GameIdentity
from rlaif.game.captures.capture import pack_keyframe
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.choice import CellCounts, choose
from rlaif.trainer.play.exploration.states import (
    ArchivedStateError,
    ArchiveError,
    ArchiveIdentity,
    ArchiveMismatchError,
    ArchiveRecord,
    Cell,
    block_of,
)

IDENTITY = ArchiveIdentity(
    game=GameIdentity(title="SEEDLING", rom_sha256="ab" * 32),
    emulator=EmulatorIdentity(version="2.8.1", sound_emulated=False),
    frame_skip=4,
)


def opened(path: Path, counts: CellCounts | None = None, **options: Any) -> StateArchive:
    return StateArchive(path / "archive", IDENTITY, counts or CellCounts(), **options)


def made(number: int, **changes: Any) -> tuple[ArchiveRecord, bytes]:
    """Creates a record and its packed state; each number is another room."""
    packed, sha256 = pack_keyframe(b"state %d " % number * 50)
    fields = {
        "sha256": sha256, "ram_sha256": "cd" * 32, "identity": IDENTITY, "parent": "ef" * 32,
        "actions": "0123", "steps": 100 + number, "room": number, "block": 0, "milestones": (),
        "healthy": True, "environment": "1-0",
    }  # fmt: skip
    return ArchiveRecord.model_validate({**fields, **changes}), packed


def kept(archive: StateArchive, number: int, **changes: Any) -> ArchiveRecord:
    record, packed = made(number, **changes)
    assert archive.put(record, packed)
    return record


def test_a_state_is_stored_with_its_record_and_loaded_unchanged(tmp_path: Path):
    record = kept(opened(tmp_path), 7, milestones=("sword",), waits=((3, 12),))
    again = opened(tmp_path)
    assert again.records == (record,)
    state, packed = again.load(record.sha256)
    assert state == b"state 7 " * 50
    assert pack_keyframe(state) == (packed, record.sha256)
    written = json.loads((tmp_path / f"archive/states/{record.sha256}.json").read_text())
    assert written["identity"]["game"]["rom_sha256"] == "ab" * 32
    assert written["identity"]["emulator"]["version"] == "2.8.1"
    assert written["parent"] == "ef" * 32
    assert written["actions"] == "0123"
    assert not list((tmp_path / "archive/states").glob("*partial"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"game": GameIdentity(title="ZELDA DIN", rom_sha256="cd" * 32)}, "plays ZELDA DIN"),
        ({"emulator": EmulatorIdentity(version="3.0", sound_emulated=False)}, "has pyboy 3.0"),
        ({"emulator": EmulatorIdentity(version="2.8.1", sound_emulated=True)}, "with sound"),
        ({"frame_skip": 8}, "has 8"),
    ],
)
def test_an_archive_of_another_game_or_emulator_is_rejected(
    tmp_path: Path, change: dict[str, Any], said: str
):
    archive = opened(tmp_path)
    other = IDENTITY.model_copy(update=change)
    with pytest.raises(ArchiveMismatchError, match=said):
        StateArchive(tmp_path / "archive", other, CellCounts())
    record, packed = made(1, identity=other)
    with pytest.raises(ArchiveMismatchError):
        archive.put(record, packed)
    assert len(archive) == 0


def test_an_invalid_header_is_rejected(tmp_path: Path):
    opened(tmp_path)
    (tmp_path / "archive/archive.json").write_text("{}")
    with pytest.raises(ArchiveError, match="delete"):
        opened(tmp_path)


@pytest.mark.parametrize("damage", ["cut", "other", "gone"])
def test_a_damaged_state_is_dropped_when_it_is_loaded(tmp_path: Path, damage: str):
    archive = opened(tmp_path)
    record = kept(archive, 1)
    path = tmp_path / f"archive/states/{record.sha256}.zst"
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(made(2)[1] if damage == "other" else path.read_bytes()[:-5])
    with pytest.raises(ArchivedStateError, match="dropped"):
        archive.load(record.sha256)
    assert archive.records == ()
    assert opened(tmp_path).records == ()


def test_an_unreadable_record_is_skipped(tmp_path: Path):
    archive = opened(tmp_path)
    record = kept(archive, 1)
    (tmp_path / "archive/states" / ("0" * 64 + ".json")).write_text("{")
    (tmp_path / "archive/states" / ("1" * 64 + ".json")).write_text(record.model_dump_json())
    again = opened(tmp_path)
    assert again.records == (record,)
    assert again.refresh() == (), "and stays passed over"


def test_a_cell_keeps_the_healthier_then_the_earlier_state(tmp_path: Path):
    archive = opened(tmp_path)
    kept(archive, 1, room=5, healthy=False, steps=10)
    second = kept(archive, 2, room=5, steps=900)
    worse, packed = made(3, room=5, steps=901)
    assert not archive.put(worse, packed)
    assert archive.records == (second,)
    third = kept(archive, 4, room=5, steps=300)
    assert archive.at(third.cell) == third
    assert len(list((tmp_path / "archive/states").glob("*.zst"))) == 1


def test_changes_of_other_processes_are_merged(tmp_path: Path):
    one, two = opened(tmp_path), opened(tmp_path)
    record = kept(one, 1)
    assert two.refresh() == (record,)
    assert two.refresh() == ()
    better = kept(two, 2, room=record.room, steps=1)
    assert one.refresh() == (better,)
    assert one.records == (better,)
    with pytest.raises(ArchivedStateError):
        one.load(record.sha256)


def test_concurrent_writes_to_one_cell_keep_the_better_state(tmp_path: Path):
    one, two = opened(tmp_path), opened(tmp_path)
    kept(one, 1, room=5, steps=500)
    better = kept(two, 2, room=5, steps=400)
    assert one.refresh() == (better,)
    two.refresh()
    assert one.records == two.records == (better,)


def test_above_the_limit_cells_of_low_weight_are_dropped_first(tmp_path: Path):
    counts = CellCounts()
    archive = opened(tmp_path, counts, max_states=10)
    for number in range(30):
        counts.seen[Cell(number, 0, ())] = 100 - number
        kept(archive, number)
    assert len(archive) == 10
    assert {record.room for record in archive.records} == set(range(20, 30))
    assert len(list((tmp_path / "archive/states").iterdir())) == 20


def test_the_first_state_per_milestone_and_the_start_are_never_dropped(tmp_path: Path):
    counts = CellCounts()
    archive = opened(tmp_path, counts, max_states=5)
    start = kept(archive, 0, parent=None, ram_sha256=None, actions="", steps=0)
    first = kept(archive, 1, milestones=("sword",), steps=50)
    frontier = kept(archive, 2, milestones=("sword", "gate"), steps=70)
    for record in (first, frontier):
        counts.seen[record.cell] = 10**6
        counts.fruitless[record.cell] = 10**6
    for number in range(3, 60):
        kept(archive, number, milestones=("sword",) if number % 2 else ())
    assert archive.protected() == {start.sha256, first.sha256, frontier.sha256}
    assert archive.protected() <= {record.sha256 for record in archive.records}
    assert len(archive) == 5
    assert archive.first_with("gate") == frontier


def test_a_lineage_survives_dropped_states(tmp_path: Path):
    archive = opened(tmp_path)
    start = kept(archive, 0, parent=None, ram_sha256=None, actions="", steps=0)
    middle = kept(archive, 1, parent=start.sha256)
    end = kept(archive, 2, parent=middle.sha256)
    lost = kept(archive, 3, parent=start.sha256)
    for number, old in ((11, middle), (13, lost)):
        kept(archive, number, room=old.room, steps=1, parent=start.sha256)
    assert archive.get(middle.sha256) is None
    again = opened(tmp_path)
    assert again.lineage(end.sha256) == (start, middle, end)
    assert again.collect() == 1, "nothing descends from the lost one"
    assert again.lineage(end.sha256) == (start, middle, end)
    with pytest.raises(ArchivedStateError, match="no record"):
        again.lineage(lost.sha256)


def test_the_start_of_the_game_is_not_a_restart_cell(tmp_path: Path):
    archive = opened(tmp_path)
    start = kept(archive, 0, parent=None, ram_sha256=None, actions="", steps=0)
    record = kept(archive, 1)
    assert archive.cells == (record.cell,)
    rival, packed = made(2, room=start.room, steps=1)
    assert not archive.put(rival, packed), "and nothing stands for its cell"
    twin = kept(archive, 3, room=start.room, parent=None, ram_sha256=None, actions="", steps=0)
    assert {start.sha256, twin.sha256} <= {r.sha256 for r in archive.records}, "all ways begin"


def test_the_weight_of_a_cell_falls_with_the_root_of_its_visits():
    counts = CellCounts()
    cells = [Cell(room, 0, ()) for room in range(3)]
    counts.seen.update({cells[0]: 0, cells[1]: 3, cells[2]: 99})
    rng = np.random.default_rng(1)
    drawn = [choose(cells, counts, rng).room for _ in range(8000)]
    shares = np.bincount(drawn) / len(drawn)
    assert shares == pytest.approx(np.array([1, 1 / 2, 1 / 10]) / 1.6, abs=0.02)


def test_fruitless_starts_reduce_the_weight_of_a_cell():
    counts = CellCounts()
    cell = Cell(1, 0, ())
    fresh = counts.weight(cell)
    counts.fruitless[cell] = 8
    assert counts.weight(cell) == pytest.approx(fresh / 3)


def test_the_choice_depends_only_on_the_generator():
    cells = [Cell(room, 0, ("sword",)) for room in range(20)]
    one = [choose(cells, CellCounts(), np.random.default_rng(n)) for n in range(50)]
    two = [choose(cells[::-1], CellCounts(), np.random.default_rng(n)) for n in range(50)]
    assert one == two
    assert len(set(one)) > 10
    with pytest.raises(ValueError, match="no cell"):
        choose([], CellCounts(), np.random.default_rng(0))


def test_a_large_room_has_nine_blocks():
    assert len({block_of(x, y) for x in range(240) for y in range(176)}) == 9
    assert len({block_of(x, y) for x in range(160) for y in range(128)}) == 4
    assert all(block_of(x, y) < 16 for x in (0, 255) for y in (0, 255))
