/* Where the tables of a world lie: the first bytes of bank 2 (see world.h). */
#define WORLD_DIRECTORY
#include "game.h"

#ifndef WORLD_TITLE
#define WORLD_TITLE {"SEEDLING", "  VALE"}
#endif

const world_t directory = {
    WORLD_TITLE,
    &room_count, rooms, season_tiles, talk_rules, gifts, treasure_texts, title_map, texts,
    START_GROUP, START_ROOM, START_POS,
    TEXT_POOR, TEXT_LOCKED, TEXT_CHEST_SIDE, TEXT_BOSS_DOOR, TEXT_KEYHOLE, TEXT_HEAVY, TEXT_TURN};
