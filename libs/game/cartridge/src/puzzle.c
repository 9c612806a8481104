/*
 * Puzzles: floor buttons, blocks to push, levers, and what a solved room does.
 * Nothing here runs in a frame in which nothing moved.
 */
#include "game.h"

#define SLIDE_FRAMES 16

uint8_t puzzle_changed;
static uint8_t button_bits; /* every bit that a button of this room has */

#define DONE 0xFF /* effect of an entry that has had it */

static uint8_t remembered(const room_object_t *o) {
    return *room_flags() & o->c;
}

static uint8_t has_tile(uint8_t index) {
    uint8_t pos;

    for (pos = 0; pos != 0x80; pos++)
        if (wRoomLayout[pos] == index)
            return 1;
    return 0;
}

static void replace_tiles(uint8_t from, uint8_t to) {
    uint8_t pos;

    for (pos = 0; pos != 0x80; pos++)
        if (wRoomLayout[pos] == from)
            room_change(pos, to);
}

/* Is the chest of this entry still waiting for its puzzle? */
uint8_t chest_hidden(const room_object_t *chest) {
    const room_object_t *o;

    if (!chest->c || (*room_flags() & ROOMFLAG_ITEM))
        return 0;
    for (o = room_objects; o->kind; o++)
        if (o->kind == O_SOLVE && o->b == E_CHEST)
            return !remembered(o);
    return 0;
}

void shutters_open(void) {
    replace_tiles(TILE_SHUTTER, TILE_CAVE_FLOOR);
}

static void show_chests(void) {
    const room_object_t *o;

    for (o = room_objects; o->kind; o++)
        if (o->kind == O_CHEST && o->c && !(*room_flags() & ROOMFLAG_ITEM))
            room_change(o->pos, TILE_CHEST);
}

/* Holes and water from pos to the right become floor. */
static void build_bridge(uint8_t pos) {
    for (; (pos & 0x0F) < 10; pos++)
        if (wRoomCollisions[pos] == HAZARD)
            room_change(pos, room_floor());
}

static void take_effect(const room_object_t *o) {
    switch (o->b) {
    case E_SHUTTERS:
        shutters_open();
        break;
    case E_CHEST:
        show_chests();
        break;
    case E_KEY:
        if (!(*room_flags() & ROOMFLAG_ITEM))
            treasure_spawn(o->pos, TREASURE_SMALL_KEY, ROOMFLAG_ITEM, 0);
        break;
    case E_BRIDGE:
        build_bridge(o->pos);
        break;
    }
    scene_changed = 1;
}

static uint8_t condition(uint8_t which) {
    switch (which) {
    case C_ENEMIES:
        return wNumEnemies == 0;
    case C_TRIGGERS:
        return (wActiveTriggers & button_bits) == button_bits;
    case C_TORCHES:
        return wNumTorchesLit && !has_tile(TILE_TORCH_OFF);
    default:
        return wSwitchState & (1 << (which - C_SWITCH));
    }
}

/* A room has been loaded: nothing is pressed, old deeds stay done. */
void puzzle_enter(void) {
    const room_object_t *o;

    wActiveTriggers = 0;
    wNumTorchesLit = 0;
    button_bits = 0;
    for (o = room_objects; o->kind; o++)
        if (o->kind == O_BUTTON)
            button_bits |= 1 << o->a;
    for (o = room_objects; o->kind; o++)
        if (o->kind == O_SOLVE && remembered(o) && o->b != E_CHEST)
            take_effect(o);
}

/* Something changed: see what that solves. */
void puzzle_check(void) {
    room_object_t *o;

    puzzle_changed = 0;
    for (o = room_objects; o->kind; o++) {
        if (o->kind != O_SOLVE || o->b == DONE || remembered(o) || !condition(o->a))
            continue;
        *room_flags() |= o->c;
        sfx(SFX_SECRET);
        take_effect(o);
        o->b = DONE;
    }
}

static uint8_t pressed(uint8_t pos) {
    return wRoomLayout[pos] == TILE_BLOCK || (!air && pos == wActiveTilePos);
}

/* The player or a block has come to another tile. */
void buttons_update(void) {
    const room_object_t *o;
    uint8_t down, bit;

    if (!button_bits)
        return;
    for (o = room_objects; o->kind; o++) {
        if (o->kind != O_BUTTON)
            continue;
        bit = 1 << o->a;
        down = pressed(o->pos);
        if (down == ((wActiveTriggers & bit) != 0) || (!down && o->b))
            continue;
        wActiveTriggers ^= bit;
        if (wRoomLayout[o->pos] != TILE_BLOCK)
            room_change(o->pos, down ? TILE_BUTTON_DOWN : TILE_BUTTON);
        puzzle_changed = 1;
    }
}

/* Would a rising block hit the player? */
static uint8_t stands_on(uint8_t index) {
    uint8_t x;

    for (x = lk_x - 5; x != (uint8_t)(lk_x + 7); x += 6)
        if (wRoomLayout[((lk_y - 3) & 0xF0) | (x >> 4)] == index ||
            wRoomLayout[((lk_y + 7) & 0xF0) | (x >> 4)] == index)
            return 1;
    return 0;
}

static void swap_blocks(void) {
    uint8_t pos;

    for (pos = 0; pos != 0x80; pos++) {
        if (wRoomLayout[pos] == TILE_BLOCK_UP)
            room_change(pos, TILE_BLOCK_DOWN);
        else if (wRoomLayout[pos] == TILE_BLOCK_DOWN)
            room_change(pos, TILE_BLOCK_UP);
    }
}

/* The blade hit a lever. It stays where it is while he stands on what would rise. */
void lever_flip(uint8_t pos) {
    const room_object_t *o = room_object_at(O_LEVER, pos);

    if (!o || (o->a == 0 && stands_on(TILE_BLOCK_DOWN)))
        return;
    wSwitchState ^= 1 << o->a;
    wToggleBlocksState = wSwitchState;
    sfx(SFX_DOOR);
    if (o->a == 0)
        swap_blocks();
    room_change(pos, wSwitchState & (1 << o->a) ? TILE_ORB_ON : TILE_ORB_OFF);
    puzzle_changed = 1;
}

/* Not onto the rim and not where he comes back after a fall: he must always get out again. */
static uint8_t has_room_for_block(uint8_t pos) {
    uint8_t col = pos & 0x0F, back = (wLinkLocalRespawnY & 0xF0) | (wLinkLocalRespawnX >> 4);

    if (pos < 0x10 || pos >= 0x70 || col == 0 || col >= 9 || pos == back)
        return 0;
    return wRoomCollisions[pos] == 0 || wRoomLayout[pos] == TILE_HOLE;
}

uint8_t block_push(uint8_t pos) {
    object_t *b = SLOT_PUSHED;
    uint8_t to = pos + step_y[lk_direction] * 0x10 + step_x[lk_direction];

    if (b->enabled || !has_room_for_block(to))
        return 0;
    room_change(pos, room_floor());
    b->enabled = 1;
    b->id = NPC_PUSHED;
    b->counter1 = SLIDE_FRAMES;
    b->direction = lk_direction;
    b->angle = (uint8_t)(lk_direction << 3);
    b->yh = PIXEL_Y(pos);
    b->xh = PIXEL_X(pos);
    b->var30 = to;
    wBlockPushAngle = 0x80 | b->angle;
    wRoomCollisions[to] = SOLID;
    scene_changed = 1;
    return 1;
}

void block_update(void) {
    object_t *b = SLOT_PUSHED;

    if (!b->enabled)
        return;
    scene_changed = 1;
    b->yh += step_y[b->direction];
    b->xh += step_x[b->direction];
    if (--b->counter1)
        return;
    b->enabled = 0;
    wBlockPushAngle &= 0x7F;
    room_change(b->var30, wRoomLayout[b->var30] == TILE_HOLE ? room_floor() : TILE_BLOCK);
    buttons_update();
}
