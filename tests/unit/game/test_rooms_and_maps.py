import pytest

from rlaif.game.description.mapview import marked_entities, room_map, visited_map
from rlaif.game.memory.rooms import floor_grid, neighbours, on_screen, room_size, visited_rooms


def test_rooms_are_small_or_large(make_ram):
    assert room_size(make_ram()) == (10, 8)
    assert room_size(make_ram(("wRoomIsLarge", 1))) == (15, 11)


def test_visited_rooms_are_those_of_the_groups_page(make_ram):
    ram = make_ram((0xC7D9, 0x90), (0xC7DA, 0x80), (0xC912, 0x10), (0xC8F1, 0x10), (0xC8EF, 0x10))
    assert visited_rooms(ram, 0) == {0xD9}
    assert visited_rooms(ram, 4) == visited_rooms(ram, 6) == {0x12}
    assert visited_rooms(ram, 1) == visited_rooms(ram, 3) == {0xEF}


FLOOR = bytes([0] * 8 + [0x20, 0x21, 0, 0, 0, 0, 0, 0] + [0, 0x22] + [0] * 46)
IN_DUNGEON = (
    ("wDungeonIndex", 1), ("wActiveGroup", 4), ("wActiveRoom", 0x21), ("wDungeonMapPosition", 9),
    ("wDungeonFloor", 1), (0xC920, 0x10), (0xC921, 0x10),
)  # fmt: skip


def test_the_floor_is_that_of_the_player(make_ram):
    ram = make_ram(*IN_DUNGEON, floor=bytes(64) + FLOOR + bytes(128))
    assert floor_grid(ram) == FLOOR
    assert neighbours(ram) == (None, None, 0x22, 0x20)


def test_a_stale_floor_is_no_floor(make_ram):
    floor = bytes(64) + FLOOR + bytes(128)
    outside = make_ram(*IN_DUNGEON, ("wDungeonIndex", 0xFF), floor=floor)
    cave = make_ram(*IN_DUNGEON, ("wActiveRoom", 0x55), floor=floor)
    assert floor_grid(outside) is floor_grid(cave) is None


def test_a_dungeon_floor_is_drawn_with_its_rooms_only(make_ram):
    lines = visited_map(make_ram(*IN_DUNGEON, floor=bytes(64) + FLOOR + bytes(128)))
    assert len(lines) == 8
    assert lines[1].rstrip() == "##@@"
    assert lines[2].rstrip() == "  .."


def test_the_overworld_is_drawn_as_a_map_of_sixteen_by_sixteen_rooms(make_ram):
    lines = visited_map(make_ram(("wActiveRoom", 0x65), (0xC765, 0x10), (0xC764, 0x10)))
    assert [len(line) for line in lines] == [32] * 16
    assert lines[6] == "........##@@" + "." * 20
    assert lines[0] == "." * 32


def test_a_house_lies_on_no_map(make_ram):
    assert visited_map(make_ram(("wActiveGroup", 3))) == []


@pytest.mark.parametrize(("large", "lines", "width"), [(0, 16, 40), (1, 22, 60)])
def test_a_room_is_drawn_in_half_tiles(make_ram, large, lines, width):
    drawn = room_map(make_ram(("wRoomIsLarge", large)))
    assert [len(line) for line in drawn] == [width] * lines


def test_walls_holes_and_the_player_are_drawn_where_they_are(make_ram):
    ram = make_ram(
        (0xCE00, 0x0F), (0xCE01, 0x10), (0xCE02, 0b1001), ("w1Link.xh", 72), ("w1Link.yh", 8),
        ("w1Link.direction", 1),
    )  # fmt: skip
    first, second = room_map(ram)[:2]
    assert first.startswith("####~~~~##..")
    assert second.startswith("####~~~~..##......@>")


def test_objects_are_marked_once_by_what_they_are(make_ram):
    ram = make_ram(
        (0xD080, b"\x01\x09"), (0xD08B, b"\x10\x00\x18"), (0xD340, b"\x01\x87"),
        (0xD3C0, b"\x01\x01"), (0xD4C0, b"\x01\x09"), (0xD100, b"\x01\x0b"),
        ("wAButtonSensitiveObjectList", b"\x40\xd3"),
    )  # fmt: skip
    marked = marked_entities(ram)
    assert [(m.mark, m.kind, m.entity.slot) for m in marked] == [
        ("E1", "enemy", 0xD080), ("N1", "talkable", 0xD340), ("I1", "item", 0xD3C0),
        ("p1", "part", 0xD4C0), ("C1", "companion", 0xD100),
    ]  # fmt: skip
    assert room_map(ram)[2][6:8] == "E1"


def test_sixteen_enemies_have_sixteen_marks_and_what_is_outside_is_not_drawn(make_ram):
    writes: list[tuple[int, bytes | int]] = [
        (0xD080 + page * 0x100, b"\x01\x09") for page in range(16)
    ]
    writes += [(0xD08D + page * 0x100, 0xF8) for page in range(16)]
    ram = make_ram(*writes)
    assert len({m.mark for m in marked_entities(ram)}) == 16
    assert not any("E" in line for line in room_map(ram))


def test_a_place_in_a_large_room_is_on_the_screen_where_the_camera_looks():
    assert on_screen(80, 48, 0, 0) == (80, 64)
    assert on_screen(200, 160, 80, 48) == (120, 128)
