from rlaif.game.memory.rooms import floor_grid, neighbours, room_size


def test_rooms_are_small_or_large(make_ram):
    assert room_size(make_ram()) == (10, 8)
    assert room_size(make_ram(("wRoomIsLarge", 1))) == (15, 11)


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
