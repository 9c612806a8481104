/* Room tables: see data/rooms.c for the rooms and README.md for how to add one. */
#ifndef ROOMS_H
#define ROOMS_H

#include <stdint.h>

#include "art.h" /* TILE_ indices */
#include "start.h"

/*
 * Objects of a room. "flag" is one of the ROOMFLAG_ bits of this room (0: not
 * remembered). At most 24 objects a room, 8 enemies, 8 people or things to
 * talk to, 12 parts (drops, buttons, levers) at a time.
 */
enum {
    O_END,
    O_NPC,     /* a = interaction id, b = text; solid, A talks */
    O_ENEMY,   /* a = enemy id */
    O_PICKUP,  /* a = drop subid, b = flag set once taken */
    O_ESSENCE, /* the treasure of the dungeon; lies on the lower right corner of pos */
    O_SIGN,    /* a = text; on a sign tile (or any solid tile) */
    O_CHEST,   /* a = treasure, b = amount, c = 1: hidden until O_SOLVE shows it; flag 20 */
    O_WARP,    /* a = group, b = room, c = tile where the player appears; on a free tile */
    O_TREASURE, /* lies there until touched: a = treasure, b = flag, c = amount */
    O_SHOP,    /* a = treasure, b = price (BCD), c = text of the question; A asks Yes or No */
    O_BUTTON,  /* a = bit of wActiveTriggers (0-7), b = 1: stays down; on a button tile */
    O_LEVER,   /* a = bit of wSwitchState (0-7); on a lever tile; the blade flips it */
    O_SOLVE,   /* a = condition, b = effect, c = flag; pos = where a key appears */
    O_DIG,     /* a = treasure, b = flag, c = amount; under a soft soil tile */
    O_BOSS,    /* a = enemy id; gone once flag 80 is set; leaves a heart container (flag 20) */
    O_SCENE,   /* the season spirit comes down to pos when the player enters:
                  a = text, b = treasure, c = amount; once (flag 40) */
    O_IF,      /* the NEXT object is there only if a = condition W_, b = value holds */
    O_TILE     /* pos becomes tile index c if a = condition W_, b = value holds on entering */
};

/* O_SOLVE conditions */
enum {
    C_ENEMIES,  /* no enemy left */
    C_TRIGGERS, /* every button of the room is down */
    C_TORCHES,  /* no unlit torch (tile 08) left */
    C_SWITCH    /* C_SWITCH + n: bit n of wSwitchState is set */
};

/* O_SOLVE effects */
enum {
    E_SHUTTERS, /* shutters (tile 78) become floor */
    E_CHEST,    /* the hidden chests appear */
    E_KEY,      /* a small key appears on pos (taken: flag 20) */
    E_BRIDGE    /* holes and water become floor in the row of pos, from pos to the right */
};

/* Conditions of O_IF, O_TILE and talk_rules */
enum {
    W_HAS,       /* treasure `value` is owned */
    W_HAS_NOT,
    W_ESSENCE,   /* the essence is home */
    W_SEASON,    /* it is season `value` (0 spring, 1 summer, 2 autumn, 3 winter) */
    W_FLAG,      /* flag `value` of this room is set */
    W_NOT_FLAG,
    W_VISITED,   /* overworld room `value` was visited */
    W_NO_ESSENCE
};

typedef struct {
    uint8_t kind;
    uint8_t pos; /* tile, 0xYX */
    uint8_t a, b, c;
} room_object_t;

typedef struct {
    uint8_t group, id;
    const char *name; /* shown in the status bar, at most 12 letters */
    const char *map;  /* 8 rows of 10 characters of art/tiles.txt */
    const room_object_t *objects;
#ifdef WORLD
    uint8_t bank; /* of the name, the map and the objects; 0: that of the table */
#endif
} room_t;

extern const room_t rooms[];
extern const uint8_t room_count;
extern const char title_map[];

/* What the overworld makes of a tile in spring, summer, autumn, winter. */
typedef struct {
    uint8_t index; /* as written in the map; 0 ends the table */
    uint8_t by_season[4];
} season_tile_t;

extern const season_tile_t season_tiles[];

/*
 * People: who would say `text` says `next` instead if the condition holds.
 * The first rule that fits counts, so put the latest moment of the story
 * first. text 0 ends the table.
 */
typedef struct {
    uint8_t text, when, value, next;
} talk_rule_t;

extern const talk_rule_t talk_rules[];

/* Who says `text` then gives a treasure (and sets flag 20 of the room). text 0 ends. */
typedef struct {
    uint8_t text, treasure, amount;
} gift_t;

extern const gift_t gifts[];

/* The text that tells of a new treasure; a treasure without one is taken silently. 0 ends. */
typedef struct {
    uint8_t treasure, text;
} treasure_text_t;

extern const treasure_text_t treasure_texts[];

#endif
