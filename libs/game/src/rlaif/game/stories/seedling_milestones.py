"""The story of the embedded game, Seedling Vale, in the order of its walkthrough.

Every test is a fact that the game writes (cartridge/src).
"""

from rlaif.game.stories.milestones import (
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
_NORTH_DOOR, _EAST_DOOR, _VISITED, _ITEM, _EVENT = 0x01, 0x02, 0x10, 0x20, 0x80


SEEDLING_MILESTONES: tuple[Milestone, ...] = (
    Milestone("sword", "Sword", treasure(0x05)),
    Milestone("shield", "Shield", treasure(0x01)),
    Milestone("bombs", "Bombs", treasure(0x03)),
    Milestone("quarry_open", "Blew the quarry cave open", room_flag(0, 0x68, _EVENT)),
    Milestone("bracelet", "Power bracelet", treasure(0x16)),
    Milestone("rod_of_seasons", "Rod of seasons", treasure(0x07)),
    Milestone("cliff_climbed", "Climbed the cliff in summer", room_flag(0, 0x58, _VISITED)),
    Milestone("feather", "Feather", treasure(0x17)),
    Milestone("seed_satchel", "Seed satchel", treasure(0x19)),
    Milestone("toadstools_lifted", "Past the toadstools in autumn", room_flag(0, 0x88, _VISITED)),
    Milestone("ember_cave_open", "Burnt the way to the ember cave", room_flag(0, 0x88, _EVENT)),
    Milestone("flippers", "Flippers", treasure(0x2E)),
    Milestone("gnarled_key", "Gnarled key", treasure(0x42)),
    Milestone("blossoms_passed", "Past the blossoms in spring", room_flag(0, 0x59, _VISITED)),
    Milestone("dungeon_open", "Opened the root gate", room_flag(0, 0x59, _EVENT)),
    Milestone("dungeon_entered", "Entered the root cave", visited(_DUNGEON)),
    Milestone("small_key", "Key of the button room", room_flag(4, 0x1B, _ITEM)),
    Milestone("north_door", "Unlocked the cross hall", room_flag(4, 0x1C, _NORTH_DOOR)),
    Milestone("second_key", "Key of the torch hall", room_flag(4, 0x13, _ITEM)),
    Milestone("vault_door", "Unlocked the vault", room_flag(4, 0x14, _EAST_DOOR)),
    Milestone("boss_key", "Boss key", boss_key(_DUNGEON)),
    Milestone("boss_door", "Unlocked the boss's den", room_flag(4, 0x14, _NORTH_DOOR)),
    Milestone("boss_beaten", "Beat the boss", room_flag(4, 0x0C, _EVENT)),
    Milestone("essence", "Essence of the root cave", essence(_DUNGEON)),
    Milestone("shovel", "Shovel", treasure(0x15), is_main=False),
    Milestone("heart_piece", "First heart piece", treasure(0x2B), is_main=False),
    Milestone("map", "Dungeon map", dungeon_map(_DUNGEON), is_main=False),
    Milestone("compass", "Compass", compass(_DUNGEON), is_main=False),
    Milestone("heart_container", "Heart container", room_flag(4, 0x0C, _ITEM), is_main=False),
)
"""Extras, which the quest does not need, come last. The shop sells bombs to owners of a shield."""
