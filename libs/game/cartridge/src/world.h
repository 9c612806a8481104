/*
 * The engine of generated worlds, built with -DWORLD: one image for any tables. It finds them by a
 * directory, the first bytes of bank 2, which it copies to cartridge RAM at the start. Without WORLD
 * the places are known to the linker and this file changes nothing.
 */
#ifndef WORLD_H
#define WORLD_H

#ifdef WORLD

#define TITLE_LETTERS 10

/* As rlaif.game.worlds.rom writes it. */
typedef struct {
    char title[2][TITLE_LETTERS + 1];
    const uint8_t *room_count;
    const room_t *rooms; /* in bank 2, like all tables but the texts and some rooms' own data */
    const season_tile_t *season_tiles;
    const talk_rule_t *talk_rules;
    const gift_t *gifts;
    const treasure_text_t *treasure_texts;
    const char *title_map;
    const char *const *texts; /* in bank 4, with what they point to */
    uint8_t start_group, start_room, start_pos;
    uint8_t text_poor, text_locked, text_chest_side, text_boss_door, text_keyhole, text_heavy,
        text_turn; /* what the engine itself says */
} world_t;

extern const world_t directory;

#define world (*(world_t *)0xA800)
/* Not by its name: SDCC 4.2 would pass the array itself. */
#define WORLD_TITLE_LINE(n) ((const char *)(0xA800 + (n) * (TITLE_LETTERS + 1)))
/* Number of a room in the table plus 1: [page of its flags][id]. */
#define ROOM_NUMBERS ((uint8_t *)0xA900)

#ifndef WORLD_DIRECTORY /* directory.c names the tables themselves */
#undef START_GROUP
#undef START_ROOM
#undef START_POS
#define rooms          (world.rooms)
#define season_tiles   (world.season_tiles)
#define talk_rules     (world.talk_rules)
#define gifts          (world.gifts)
#define treasure_texts (world.treasure_texts)
#define title_map      (world.title_map)
#define texts          (world.texts)
#define START_GROUP    (world.start_group)
#define START_ROOM     (world.start_room)
#define START_POS      (world.start_pos)
#define TEXT_POOR       (world.text_poor)
#define TEXT_LOCKED     (world.text_locked)
#define TEXT_CHEST_SIDE (world.text_chest_side)
#define TEXT_BOSS_DOOR  (world.text_boss_door)
#define TEXT_KEYHOLE    (world.text_keyhole)
#define TEXT_HEAVY      (world.text_heavy)
#define TEXT_TURN       (world.text_turn)
#endif

#endif
#endif
