/*
 * Rooms: from the tables to the layout and collision buffers, and from the
 * buffers to the screen.
 */
#include "game.h"

room_object_t room_objects[MAX_OBJECTS + 1];
char room_name[14];
uint8_t room_beyond[4];
uint8_t dungeon_cells[8];

/* Page of the flags of each group, relative to 0xC700: groups 1-3 share one. */
static const uint8_t flag_page[8] = {0, 1, 1, 1, 2, 3, 2, 3};

#ifdef WORLD
/* Once, before the first room: the index, and the border around the maps of all rooms. */
void room_index(void) {
    uint8_t i, count, key[2];
    uint16_t n;

    for (i = 0; i != 0xC0; i++)
        wRoomCollisions[i] = 0xFF;

    for (n = 0; n != 0x400; n++)
        ROOM_NUMBERS[n] = 0;
    read_rooms(&count, world.room_count, 1);
    for (i = 0; i != count; i++) {
        read_rooms(key, rooms + i, 2);
        ROOM_NUMBERS[((uint16_t)flag_page[key[0]] << 8) + key[1]] = i + 1;
    }
}

/* Number of a room in the table plus 1, or 0. */
static uint8_t room_find(uint8_t group, uint8_t id) {
    return ROOM_NUMBERS[((uint16_t)flag_page[group] << 8) + id];
}
#else
/* Group and id of every room, as looking into the other ROM bank takes its time. */
#define MAX_ROOMS 36
static struct {
    uint8_t id, group;
} room_keys[MAX_ROOMS];
static uint8_t rooms_known;

/* Once, before the first room: the index, and the border around the maps of all rooms. */
void room_index(void) {
    const room_t *r = rooms;
    uint8_t i, key[2];

    for (i = 0; i != 0xC0; i++)
        wRoomCollisions[i] = 0xFF;

    read_rooms(&rooms_known, &room_count, 1);
    for (i = 0; i < rooms_known; i++, r++) {
        read_rooms(key, r, 2);
        room_keys[i].group = key[0];
        room_keys[i].id = key[1];
    }
}

/* Number of a room in the table plus 1, or 0. */
static uint8_t room_find(uint8_t group, uint8_t id) {
    uint8_t i;

    for (i = 0; i < rooms_known; i++)
        if (room_keys[i].id == id && room_keys[i].group == group)
            return i + 1;
    return 0;
}
#endif

static uint8_t *flags_of(uint8_t group, uint8_t id) {
    return ROOM_FLAG_PAGES + ((uint16_t)flag_page[group] << 8) + id;
}

uint8_t *room_flags(void) {
    return flags_of(wActiveGroup, wActiveRoom);
}

/* Id of the room beyond an edge: dungeon cells are 8 to a row, all others 16. */
uint8_t room_neighbour(uint8_t dir) {
    static const int8_t overworld[4] = {-0x10, 1, 0x10, -1};
    static const int8_t dungeon[4] = {-8, 1, 8, -1};

    return wActiveRoom + (wActiveGroup == 4 ? dungeon[dir] : overworld[dir]);
}

const room_object_t *room_object_at(uint8_t kind, uint8_t pos) {
    const room_object_t *o;

    for (o = room_objects; o->kind; o++)
        if (o->pos == pos && o->kind == kind)
            return o;
    return 0;
}

/* Change one tile for as long as the room stays loaded. */
void room_set_tile(uint8_t pos, uint8_t index) {
    wRoomLayout[pos] = index;
    wRoomCollisions[pos] = tile_collision[index];
}

/* The same, seen at once, unless the room is still being loaded. */
void room_change(uint8_t pos, uint8_t index) {
    room_set_tile(pos, index);
    if (wCutsceneIndex == 0)
        return;
    room_draw_cell(pos);
    player_walls();
}

/* Does a condition of the tables hold? */
uint8_t holds(uint8_t when, uint8_t value) {
    switch (when) {
    case W_HAS:        return has_treasure(value);
    case W_HAS_NOT:    return !has_treasure(value);
    case W_ESSENCE:    return wEssencesObtained & 1;
    case W_NO_ESSENCE: return !(wEssencesObtained & 1);
    case W_SEASON:     return wRoomStateModifier == value;
    case W_FLAG:       return *room_flags() & value;
    case W_NOT_FLAG:   return !(*room_flags() & value);
    default:           return *flags_of(0, value) & ROOMFLAG_VISITED;
    }
}

static void enter_dungeon(void) {
    wDungeonIndex = CAVE_INDEX;
    wDungeonMapPosition = wActiveRoom & 0x3F;
    wMinimapDungeonMapPosition = wDungeonMapPosition;
    wDungeonFloor = 0;
    wDungeonNumFloors = 1;
    wDungeonFlagsAddressH = 0xC9;
    wDungeonVisitedFloors[CAVE_INDEX] |= 1;
}

/* Which kind of place this is. */
static void load_place(uint8_t group) {
    static const uint8_t tileset_flags[6] = {0x01, 0x80, 0x02, 0x04, 0x08, 0x10};

    wTilesetFlags = tileset_flags[group];
    wActiveCollisions = group >= 4 ? 4 : group;
    if (group == 4)
        enter_dungeon();
    else
        wDungeonIndex = 0xFF;
    if (group == 0) {
        wMinimapGroup = group;
        wMinimapRoom = wActiveRoom;
    }
}

/* The object list, without what its conditions leave out. */
static void load_objects(const room_object_t *from) {
    room_object_t *to = room_objects, *o = room_objects;

    read_data(room_objects, from, MAX_OBJECTS * sizeof(room_object_t));
    room_objects[MAX_OBJECTS].kind = O_END;
    for (; o->kind; o++) {
        if (o->kind == O_IF) {
            if (!holds(o->a, o->b) && o[1].kind)
                o++;
            continue;
        }
        *to++ = *o;
    }
    to->kind = O_END;
}

static void load_map(const char *map) {
    static char chars[80];
    const char *c = chars;
    const room_object_t *o;
    uint8_t pos = 0, index, solid, flags = *room_flags();

    read_data(chars, map, sizeof(chars));
    do {
        index = tile_by_char[(uint8_t)(*c++ - 32)];
        solid = tile_collision[index];
        if (solid || index == TILE_BLOCK_DOWN) { /* open ground stays what it is */
            index = tile_now(index, pos, flags);
            solid = tile_collision[index];
        }
        wRoomLayout[pos] = index;
        wRoomCollisions[pos] = solid;
        motions |= tile_motion[index];
        pos++;
        if ((pos & 0x0F) == 10)
            pos += 6;
    } while (pos != 0x80);
    if (wActiveGroup == 0)
        tiles_by_season();
    for (o = room_objects; o->kind; o++) {
        if (o->kind == O_TILE && holds(o->a, o->b))
            room_set_tile(o->pos, o->c);
        if (o->kind == O_CHEST && chest_hidden(o))
            room_set_tile(o->pos, room_floor());
    }
}

/* Fill the buffers and slots for a room. Drawing is separate. */
void room_load(uint8_t group, uint8_t id) {
    const room_object_t *o;
    room_t here;
    uint8_t i = room_find(group, id);

    if (!i) { /* a warp to nowhere must not end the game */
        group = START_GROUP;
        id = START_ROOM;
        i = room_find(group, id);
    }
    read_rooms(&here, rooms + i - 1, sizeof(here));
#ifdef WORLD
    data_bank = here.bank;
#endif
    read_data(room_name, here.name, 13);
    wActiveGroup = group;
    wActiveRoom = wLoadingRoom = id;
    load_place(group);
    load_objects(here.objects);
    load_map(here.map);
    for (i = 0; i < 4; i++)
        room_beyond[i] = room_find(group, room_neighbour(i)) != 0;

    objects_clear();
    for (o = room_objects; o->kind; o++)
        objects_spawn(o);
    *room_flags() |= ROOMFLAG_VISITED;
    puzzle_enter();
}

/* What a compass feels: a chest, boss or essence whose prize has not been taken. */
uint8_t room_hides_treasure(uint8_t group, uint8_t id) {
    uint8_t i = room_find(group, id);
    room_t there;
    room_object_t o;

    if (!i || (*flags_of(group, id) & ROOMFLAG_ITEM))
        return 0;
    read_rooms(&there, rooms + i - 1, sizeof(there));
#ifdef WORLD
    data_bank = there.bank;
#endif
    do {
        read_data(&o, there.objects++, sizeof(o));
        if (o.kind == O_CHEST || o.kind == O_BOSS || o.kind == O_ESSENCE)
            return 1;
    } while (o.kind);
    return 0;
}

/*
 * The map of the dungeon for whoever reads it from outside: 8x8 room ids in
 * work RAM bank 2. Called before play begins, as from then on bank 1 must stay
 * selected: a reader may look between any two instructions.
 */
void dungeon_layout_init(void) {
    uint8_t i, id;

    rSVBK = 2;
#ifdef WORLD
    for (i = 0; i != 64; i++) {
        if (!room_find(4, i))
            continue;
        id = i;
#else
    for (i = 0; i < rooms_known; i++) {
        if (room_keys[i].group != 4)
            continue;
        id = room_keys[i].id;
#endif
        M8(0xDC00 + (id & 0x3F)) = id;
        dungeon_cells[(id & 0x3F) >> 3] |= 1 << (id & 7);
    }
    rSVBK = 1;
}

/* Which of its variants a floor shows at a place: always the same one. */
const uint8_t scatter[64] = {
    0x3A, 0xC5, 0x71, 0x0E, 0x98, 0x47, 0xE2, 0x1D, 0xB6, 0x59, 0x04, 0xFB, 0x83, 0x2C, 0x6F, 0xD0,
    0x17, 0xA9, 0xEC, 0x52, 0x7D, 0x30, 0xBF, 0x86, 0x4B, 0xC8, 0x95, 0x61, 0xFE, 0x0A, 0xD3, 0x24,
    0x68, 0x1B, 0xF7, 0x9C, 0x42, 0xAD, 0x05, 0xE1, 0x3E, 0x7A, 0xC0, 0x8F, 0x56, 0xD9, 0x23, 0xB4,
    0xEF, 0x40, 0x8A, 0x35, 0x16, 0xCB, 0x79, 0xA2, 0xDC, 0x07, 0x5D, 0xF0, 0x91, 0x6E, 0x28, 0xB3};

/* A cell in its place on the screen. */
void room_draw_cell(uint8_t pos) {
    uint8_t row = ((pos >> 3) & 0x1E) + 2;

    room_draw_at(pos, row, (uint8_t)(pos << 1) & 0x1E);
    bg_changed(row, row + 2);
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

/*
 * Is there a wall at this pixel? The border outside the room, water and holes
 * are open to the player.
 */
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
