/* What the buttons do in front of things: talk, read, open, lift, unlock. */
#include "game.h"

static void open_chest(uint8_t pos) {
    const room_object_t *o = room_object_at(O_CHEST, pos);

    if (lk_direction != DIR_UP) {
        text_show(TEXT_CHEST_SIDE);
        return;
    }
    room_change(pos, TILE_CHEST_OPEN);
    *room_flags() |= ROOMFLAG_ITEM;
    if (o)
        give_treasure(o->a, o->b);
}

/* Turn a lock into what lies behind it and remember that. */
static void unlock(uint8_t pos, uint8_t flag, uint8_t index) {
    sfx(SFX_DOOR);
    *room_flags() |= flag;
    room_change(pos, index);
}

static uint8_t try_keyhole(uint8_t pos) {
    if (!has_treasure(TREASURE_GNARLED_KEY))
        return 0;
    unlock(pos, ROOMFLAG_80, TILE_CAVE_MOUTH);
    return 1;
}

/* Something that talks stands there. */
static uint8_t talk_at(uint8_t pos) {
    object_t *n;
    uint8_t i;

    for (i = 0; i < NUM_SLOTS && wAButtonList[i]; i++) {
        n = (object_t *)(wAButtonList[i] & 0xFFC0);
        if (((n->yh & 0xF0) | (n->xh >> 4)) == pos) {
            talk(n);
            return 1;
        }
    }
    return 0;
}

/* Try to talk, read, open or lift. 1 = something answered. */
static uint8_t interact(uint8_t pos) {
    const room_object_t *o;

    if (talk_at(pos))
        return 1;
    o = room_object_at(O_SIGN, pos);
    if (o) {
        text_show(o->a);
        return 1;
    }
    switch (wRoomLayout[pos]) {
    case TILE_CHEST:
        open_chest(pos);
        return 1;
    case TILE_KEYHOLE:
        if (!try_keyhole(pos))
            text_show(TEXT_KEYHOLE);
        return 1;
    case TILE_KEYBLOCK:
    case TILE_KEYDOOR:
        if (wDungeonSmallKeys[CAVE_INDEX])
            return 0;
        text_show(TEXT_LOCKED);
        return 1;
    case TILE_BOSSDOOR:
        if (wDungeonBossKeys & (1 << CAVE_INDEX))
            return 0;
        text_show(TEXT_BOSS_DOOR);
        return 1;
    case TILE_STUMP:
        if (has_treasure(TREASURE_ROD))
            return 0;
        text_show(TEXT_TURN);
        return 1;
    }
    return lift(pos);
}

void action_press(uint8_t item, uint8_t talks) {
    uint8_t pos = facing_pos();

    if (wLinkGrabState) {
        throw_carried();
        return;
    }
    if (air || wLinkSwimmingState)
        return;
    if (talks && pos < 0x80 && (pos & 0x0F) < 10 && interact(pos))
        return;
    tool_use(item);
}

/* Twenty frames against a tile: locks open, blocks move. */
void action_push(void) {
    uint8_t pos = facing_pos();

    if (pos >= 0x80 || (pos & 0x0F) >= 10)
        return;
    switch (wRoomLayout[pos]) {
    case TILE_KEYHOLE:
        try_keyhole(pos);
        break;
    case TILE_BOSSDOOR:
        if (wDungeonBossKeys & (1 << CAVE_INDEX))
            unlock(pos, door_flag(pos), TILE_CAVE_FLOOR);
        break;
    case TILE_KEYBLOCK:
    case TILE_KEYDOOR:
        if (!wDungeonSmallKeys[CAVE_INDEX])
            break;
        wDungeonSmallKeys[CAVE_INDEX]--;
        if (wRoomLayout[pos] == TILE_KEYBLOCK)
            unlock(pos, ROOMFLAG_80, room_floor());
        else
            unlock(pos, door_flag(pos), TILE_CAVE_FLOOR);
        break;
    case TILE_PUSH:
        block_push(pos);
        break;
    }
}
