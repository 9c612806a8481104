"""The decoded state of the game: a frozen `GameState` from RAM."""

from dataclasses import dataclass

from rlaif.game.memory import predicates, rooms
from rlaif.game.memory.blocks import RamBlocks, bcd, bcd16
from rlaif.game.memory.entities import (
    Entity,
    enemies,
    interactions,
    is_riding,
    parts,
    player_position,
    talkables,
)
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.puzzles import PuzzleElement, puzzle_elements

FACINGS = ("up", "right", "down", "left")
SEASONS = ("spring", "summer", "autumn", "winter")


@dataclass(frozen=True, slots=True)
class GameState:
    """The decoded RAM.

    Health is in quarter hearts, positions in pixels from the top left corner of the room. Bit sets
    are integers: `treasures >> 0x05 & 1` is the sword.
    """

    running: bool  # a file is loaded and played; otherwise all other fields are meaningless
    group: int  # map group, 0 to 7
    room: int  # in its group; (group, room) names a room
    room_large: bool
    room_flags: int  # memory_map.ROOM_*
    rooms_visited: int
    visited_around: tuple[bool, bool, bool, bool]  # north, east, south, west
    x: int
    y: int
    facing: str  # up, right, down or left
    health: int
    max_health: int
    rupees: int
    bombs: int
    dungeon: int | None  # 0 to 11, None outside dungeons
    keys: int | None  # small keys held for the current dungeon, None outside
    boss_key: bool
    dungeon_map: bool
    compass: bool
    item_a: int
    item_b: int
    treasures: int  # bit set of the 128 treasures
    essences: int  # bit n is the essence of dungeon n + 1
    seasons: int  # bits 0-3, seasons of the rod
    season: str  # spring, summer, autumn or winter
    text: bool
    text_choice: bool
    text_id: int | None  # None without text
    menu: int  # 0 none, 1 inventory, 2 map, 3 save
    scrolling: bool
    cutscene: bool
    has_control: bool
    dying: bool
    triggers: int
    switches: int
    toggles: int
    torches: int
    enemies_left: int  # doors and chests wait for 0
    deaths: int  # in this file; counted on the game-over screen, later than `dying`
    kills: int  # at most 1000
    enemies: tuple[Entity, ...]
    interactions: tuple[Entity, ...]
    parts: tuple[Entity, ...]
    talkable: tuple[Entity, ...]  # objects that react to A, in the game's order
    riding: bool  # on an animal or in a minecart; x and y are its position then
    puzzle: tuple[PuzzleElement, ...]  # elements left to push, press, hit or light

    def owns(self, treasure: int) -> bool:
        return bool(self.treasures >> treasure & 1)


def decode(ram: RamBlocks) -> GameState:
    """Decode the RAM; any bytes result in a state."""
    x, y = player_position(ram)
    dungeon = rooms.dungeon_of(ram)
    room = ram.u8(address("wActiveRoom"))
    treasures = _bit_set(ram, "wObtainedTreasureFlags", 16)
    text = predicates.is_text(ram)
    return GameState(
        running=predicates.is_running(ram),
        group=ram.u8(address("wActiveGroup")),
        room=room,
        room_large=ram.u8(address("wRoomIsLarge")) != 0,
        room_flags=rooms.room_flags(ram, room),
        rooms_visited=rooms.count_visited(ram),
        visited_around=rooms.visited_around(ram),
        x=x,
        y=y,
        facing=FACINGS[ram.u8(address("w1Link.direction")) & 3],
        health=ram.u8(address("wLinkHealth")),
        max_health=ram.u8(address("wLinkMaxHealth")),
        rupees=bcd16(ram.u16(address("wNumRupees"))),
        bombs=bcd(ram.u8(address("wNumBombs"))),
        dungeon=dungeon,
        keys=None if dungeon is None else ram.u8(address("wDungeonSmallKeys") + dungeon),
        boss_key=dungeon is not None and ram.bit(address("wDungeonBossKeys"), dungeon),
        dungeon_map=dungeon is not None and ram.bit(address("wDungeonMaps"), dungeon),
        compass=dungeon is not None and ram.bit(address("wDungeonCompasses"), dungeon),
        item_a=ram.u8(address("wInventoryA")),
        item_b=ram.u8(address("wInventoryB")),
        treasures=treasures,
        essences=ram.u8(address("wEssencesObtained")),
        seasons=ram.u8(address("wObtainedSeasons")) & 0x0F,
        season=SEASONS[ram.u8(address("wRoomStateModifier")) & 3],
        text=text,
        text_choice=predicates.is_text_choice(ram),
        text_id=ram.u16(address("wTextIndex")) - 0x0400 & 0xFFFF if text else None,
        menu=ram.u8(address("wOpenedMenuType")),
        scrolling=predicates.is_scrolling(ram),
        cutscene=predicates.is_cutscene(ram),
        has_control=predicates.has_control(ram),
        dying=predicates.is_dying(ram),
        triggers=ram.u8(address("wActiveTriggers")),
        switches=ram.u8(address("wSwitchState")),
        toggles=ram.u8(address("wToggleBlocksState")),
        torches=ram.u8(address("wNumTorchesLit")),
        enemies_left=ram.u8(address("wNumEnemies")),
        deaths=bcd16(ram.u16(address("wDeathCounter"))),
        kills=ram.u16(address("wTotalEnemiesKilled")),
        enemies=tuple(enemies(ram)),
        interactions=tuple(interactions(ram)),
        parts=tuple(parts(ram)),
        talkable=tuple(talkables(ram)),
        riding=is_riding(ram),
        puzzle=puzzle_elements(ram),
    )


def _bit_set(ram: RamBlocks, name: str, size: int) -> int:
    return int.from_bytes(ram.block(address(name), size), "little")
