"""The story of the embedded game, Seedling Vale, in the order of its walkthrough.

Every test is a fact that the game writes (cartridge/src), so each is sure: confidence A.
"""

from rlaif.game.stories.milestones import (
    ByteTest,
    Milestone,
    boss_key,
    compass,
    dungeon_map,
    essence,
    room_flag,
    treasure,
    visited,
)

_DUNGEON = 1
_NORTH_DOOR, _EAST_DOOR, _VISITED, _ROOM_ITEM, _ROOM_EVENT = 0x01, 0x02, 0x10, 0x20, 0x80


def _main(name: str, title: str, test: ByteTest) -> Milestone:
    return Milestone(name, title, test, confidence="A")


def _extra(name: str, title: str, test: ByteTest) -> Milestone:
    return Milestone(name, title, test, is_main=False, confidence="A")


SEEDLING_MILESTONES: tuple[Milestone, ...] = (
    _main("sword", "Sword", treasure(0x05)),
    _main("shield", "Shield", treasure(0x01)),
    _main("bombs", "Bombs", treasure(0x03)),
    _main("quarry_open", "Blew the quarry cave open", room_flag(0, 0x68, _ROOM_EVENT)),
    _main("bracelet", "Power bracelet", treasure(0x16)),
    _main("rod_of_seasons", "Rod of seasons", treasure(0x07)),
    _main("cliff_climbed", "Climbed the cliff in summer", room_flag(0, 0x58, _VISITED)),
    _main("feather", "Feather", treasure(0x17)),
    _main("seed_satchel", "Seed satchel", treasure(0x19)),
    _main("toadstools_lifted", "Past the toadstools in autumn", room_flag(0, 0x88, _VISITED)),
    _main("ember_cave_open", "Burnt the way to the ember cave", room_flag(0, 0x88, _ROOM_EVENT)),
    _main("flippers", "Flippers", treasure(0x2E)),
    _main("gnarled_key", "Gnarled key", treasure(0x42)),
    _main("blossoms_passed", "Past the blossoms in spring", room_flag(0, 0x59, _VISITED)),
    _main("dungeon_open", "Opened the root gate", room_flag(0, 0x59, _ROOM_EVENT)),
    _main("dungeon_entered", "Entered the root cave", visited(_DUNGEON)),
    _main("small_key", "Key of the button room", room_flag(4, 0x1B, _ROOM_ITEM)),
    _main("north_door", "Unlocked the cross hall", room_flag(4, 0x1C, _NORTH_DOOR)),
    _main("second_key", "Key of the torch hall", room_flag(4, 0x13, _ROOM_ITEM)),
    _main("vault_door", "Unlocked the vault", room_flag(4, 0x14, _EAST_DOOR)),
    _main("boss_key", "Boss key", boss_key(_DUNGEON)),
    _main("boss_door", "Unlocked the boss's den", room_flag(4, 0x14, _NORTH_DOOR)),
    _main("boss_beaten", "Beat the boss", room_flag(4, 0x0C, _ROOM_EVENT)),
    _main("essence", "Essence of the root cave", essence(_DUNGEON)),
    _extra("shovel", "Shovel", treasure(0x15)),
    _extra("heart_piece", "First heart piece", treasure(0x2B)),
    _extra("map", "Dungeon map", dungeon_map(_DUNGEON)),
    _extra("compass", "Compass", compass(_DUNGEON)),
    _extra("heart_container", "Heart container", room_flag(4, 0x0C, _ROOM_ITEM)),
)
"""Extras, which the quest does not need, come last. The shop sells bombs to owners of a shield."""
