/* What a tile of the map is at this moment, and what it leaves when it goes. */
#include "game.h"

/* Doors and cracks of the four sides have flags of their own; inner ones share one. */
uint8_t door_flag(uint8_t pos) {
    uint8_t col = pos & 0x0F;

    if (pos < 0x10) return 0x01;
    if (col == 9)   return 0x02;
    if (pos >= 0x70) return 0x04;
    if (col == 0)   return 0x08;
    return ROOMFLAG_40;
}

/* Bare ground of the present kind of room. */
uint8_t room_floor(void) {
    if (wActiveGroup == 0) return TILE_GRASS;
    if (wActiveGroup == 3) return TILE_FLOOR_WOOD;
    return TILE_CAVE_FLOOR;
}

uint8_t tile_under(uint8_t index) {
    if (index == TILE_POT_IN)
        return TILE_FLOOR_WOOD;
    return room_floor();
}

/* Tiles that depend on what was done here before. */
uint8_t tile_now(uint8_t index, uint8_t pos, uint8_t flags) {
    switch (index) {
    case TILE_CHEST:
        return flags & ROOMFLAG_ITEM ? TILE_CHEST_OPEN : index;
    case TILE_KEYHOLE:
    case TILE_CRACKED_CLIFF:
        return flags & ROOMFLAG_80 ? TILE_CAVE_MOUTH : index;
    case TILE_KEYBLOCK:
    case TILE_DRYBUSH:
        return flags & ROOMFLAG_80 ? room_floor() : index;
    case TILE_KEYDOOR:
    case TILE_BOSSDOOR:
    case TILE_CRACKED_WALL:
        return flags & door_flag(pos) ? TILE_CAVE_FLOOR : index;
    case TILE_CRACKED_ROCK:
        return flags & ROOMFLAG_40 ? room_floor() : index;
    case TILE_BLOCK_UP:
        return wSwitchState & 1 ? TILE_BLOCK_DOWN : index;
    case TILE_BLOCK_DOWN:
        return wSwitchState & 1 ? TILE_BLOCK_UP : index;
    }
    return index;
}

/* The overworld dressed for the season; later rows of the table see what earlier ones made. */
void tiles_by_season(void) {
    const season_tile_t *t = season_tiles;
    season_tile_t change;
    uint8_t pos, now;

    for (;;) {
        read_rooms(&change, t++, sizeof(change));
        if (!change.index)
            return;
        now = change.by_season[wRoomStateModifier];
        if (now == change.index)
            continue;
        for (pos = 0; pos != 0x80; pos++)
            if (wRoomLayout[pos] == change.index)
                room_set_tile(pos, now);
    }
}
