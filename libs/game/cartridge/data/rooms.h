/* Room tables: see data/rooms.c for the rooms and README.md for how to add one. */
#ifndef ROOMS_H
#define ROOMS_H

#include <stdint.h>

enum {
    O_END,
    O_NPC,     /* a = interaction id, b = text id */
    O_ENEMY,   /* a = enemy id */
    O_PICKUP,  /* a = drop subid, b = room flag set once taken */
    O_ESSENCE, /* the treasure of a dungeon; lies on the lower right corner of pos */
    O_SIGN,    /* a = text id */
    O_CHEST,   /* a = treasure id */
    O_WARP     /* a = group, b = room, c = tile where the player appears */
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
} room_t;

extern const room_t rooms[];
extern const uint8_t room_count;
extern const char title_map[];

#define START_GROUP 0
#define START_ROOM  0x65
#define START_POS   0x57

#endif
