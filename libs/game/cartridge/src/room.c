/*
 * Rooms: from the tables to the layout and collision buffers, and from the
 * buffers to the screen.
 */
#include "game.h"

const room_t *room;

/* Page of the flags of each group, relative to 0xC700: groups 1-3 share one. */
static const uint8_t flag_page[8] = {0, 1, 1, 1, 2, 3, 2, 3};

/* The room table entry, or 0. */
const room_t *room_find(uint8_t group, uint8_t id) {
    const room_t *r = rooms;
    uint8_t i;

    for (i = room_count; i; i--, r++)
        if (r->id == id && r->group == group)
            return r;
    return 0;
}

uint8_t *room_flags(void) {
    return ROOM_FLAG_PAGES + ((uint16_t)flag_page[wActiveGroup] << 8) + wActiveRoom;
}

/* Id of the room beyond an edge. */
uint8_t room_neighbour(uint8_t dir) {
    static const int8_t overworld[4] = {-0x10, 1, 0x10, -1};
    static const int8_t dungeon[4] = {-8, 1, 8, -1};

    return wActiveRoom + (wActiveGroup >= 4 ? dungeon[dir] : overworld[dir]);
}

const room_object_t *room_object_at(uint8_t kind, uint8_t pos) {
    const room_object_t *o;

    for (o = room->objects; o->kind; o++)
        if (o->pos == pos && o->kind == kind)
            return o;
    return 0;
}

/* Change one tile for as long as the room stays loaded. */
void room_set_tile(uint8_t pos, uint8_t index) {
    wRoomLayout[pos] = index;
    wRoomCollisions[pos] = tile_collision[index];
}

/* Tiles that depend on what was done here before. */
static uint8_t flagged_tile(uint8_t index, uint8_t flags) {
    if (index == TILE_CHEST && (flags & ROOMFLAG_ITEM))
        return TILE_CHEST_OPEN;
    if (index == TILE_KEYHOLE && (flags & ROOMFLAG_80))
        return TILE_CAVE_MOUTH;
    if ((index & 0xFC) == TILE_KEYDOOR_UP && (flags & (1 << (index & 3))))
        return TILE_FLOOR;
    return index;
}

static void load_dungeon(void) {
    wDungeonIndex = CAVE_INDEX;
    wDungeonMapPosition = wActiveRoom & 0x3F;
    wMinimapDungeonMapPosition = wDungeonMapPosition;
    wDungeonFloor = 0;
    wDungeonNumFloors = 1;
    wDungeonFlagsAddressH = 0xC9;
    wDungeonVisitedFloors[CAVE_INDEX] |= 1;
}

/* Fill the buffers and slots for a room. Drawing is separate. */
void room_load(uint8_t group, uint8_t id) {
    const room_object_t *o;
    const char *map;
    uint8_t pos, index, flags;

    room = room_find(group, id);
    wActiveGroup = group;
    wActiveRoom = wLoadingRoom = id;
    if (group >= 4) {
        load_dungeon();
        wActiveCollisions = 4;
        wTilesetFlags = 0x08;
    } else {
        wDungeonIndex = 0xFF;
        wActiveCollisions = group;
        wTilesetFlags = group ? 0x04 : 0x01;
    }
    if (group == 0) {
        wMinimapGroup = group;
        wMinimapRoom = id;
    }

    flags = *room_flags();
    for (pos = 0; pos != 0xC0; pos++) {
        wRoomLayout[pos] = 0;
        wRoomCollisions[pos] = 0xFF;
    }
    map = room->map;
    pos = 0;
    do {
        index = tile_by_char[(uint8_t)(*map++ - 32)];
        room_set_tile(pos, flagged_tile(index, flags));
        pos++;
        if ((pos & 0x0F) == 10)
            pos += 6;
    } while (pos != 0x80);

    objects_clear();
    for (o = room->objects; o->kind; o++)
        objects_spawn(o);
    *room_flags() |= ROOMFLAG_VISITED;
}

/* Queue the four 8x8 tiles of a cell. */
void room_draw_cell(uint8_t pos) {
    uint8_t row = ((pos >> 3) & 0x1E) + 2, col = (uint8_t)(pos << 1) & 0x1E;
    uint16_t n = (uint16_t)tile_number[wRoomLayout[pos]] << 2;
    const uint8_t *q = tile_quads + n, *a = tile_attrs + n;

    vq_put(row, col, q[0], a[0]);
    vq_put(row, col + 1, q[1], a[1]);
    vq_put(row + 1, col, q[2], a[2]);
    vq_put(row + 1, col + 1, q[3], a[3]);
}

/* Redraw screen rows (of 16 px, 0-7 in the room). */
void room_draw_rows(uint8_t from, uint8_t to) {
    uint8_t col;

    for (; from < to; from++)
        for (col = 0; col < 10; col++)
            room_draw_cell((uint8_t)(from << 4) | col);
}

void room_draw(void) {
    room_draw_rows(0, 8);
}

/* Is there a wall at this pixel? The border outside the room is open. */
uint8_t solid_at(uint8_t y, uint8_t x) {
    static const uint8_t quarter[4] = {8, 4, 2, 1};
    uint8_t c;

    if (y >= 0x80 || x >= 0xA0)
        return 0;
    c = wRoomCollisions[(y & 0xF0) | (x >> 4)];
    if (c == 0)
        return 0;
    if (c == SOLID)
        return 1;
    if (c >= 0x10)
        return 0;
    return c & quarter[((y >> 2) & 2) | ((x >> 3) & 1)];
}
