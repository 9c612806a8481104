/* What the buttons do in front of things: talk, read, open, cut, unlock. */
#include "game.h"

#define SWING_FRAMES 10

static void set_treasure(uint8_t t) {
    wObtainedTreasureFlags[t >> 3] |= 1 << (t & 7);
}

void give_treasure(uint8_t t) {
    set_treasure(t);
    switch (t) {
    case TREASURE_SWORD:
        wSwordLevel = 1;
        wInventoryA = ITEM_SWORD;
        break;
    case TREASURE_SMALL_KEY:
        wDungeonSmallKeys[CAVE_INDEX]++;
        hud_update();
        text_show(TEXT_KEY);
        break;
    }
}

/* An NPC's line may depend on the story; the table holds the first one. */
static void talk(object_t *n) {
    uint8_t text = n->var30, after = wEssencesObtained & 1;

    if (text == TEXT_GIFT) {
        if (after)
            text = TEXT_GRANNY_END;
        else if (wSwordLevel)
            text = TEXT_GRANNY_AFTER;
    } else if (text == TEXT_CHILD && after) {
        text = TEXT_CHILD_END;
    }
    n->state = 2;
    text_show(text);
    n->state = 1;
    if (text == TEXT_GIFT) {
        give_treasure(TREASURE_SWORD);
        *room_flags() |= ROOMFLAG_ITEM;
    }
}

/* Try to talk, read or open. 1 = something answered. */
static uint8_t interact(uint8_t pos) {
    const room_object_t *o;
    object_t *n;
    uint8_t i;

    for (i = 0; i < NUM_SLOTS && wAButtonList[i]; i++) {
        n = (object_t *)(wAButtonList[i] & 0xFFC0);
        if (((n->yh & 0xF0) | (n->xh >> 4)) == pos) {
            talk(n);
            return 1;
        }
    }
    switch (wRoomLayout[pos]) {
    case TILE_SIGN:
        o = room_object_at(O_SIGN, pos);
        if (o)
            text_show(o->a);
        return 1;
    case TILE_CHEST:
        if (lk_direction != DIR_UP) {
            text_show(TEXT_CHEST_SIDE);
            return 1;
        }
        o = room_object_at(O_CHEST, pos);
        room_set_tile(pos, TILE_CHEST_OPEN);
        room_draw_cell(pos);
        *room_flags() |= ROOMFLAG_ITEM;
        give_treasure(o->a);
        return 1;
    case TILE_KEYHOLE:
    case TILE_KEYDOOR_UP:
        if (wDungeonSmallKeys[CAVE_INDEX])
            return 0;
        text_show(TEXT_LOCKED);
        return 1;
    }
    return 0;
}

static void start_swing(uint8_t pos) {
    object_t *w = SLOT_WEAPON;

    swing = SWING_FRAMES;
    w->enabled = 1;
    w->id = ITEM_SWORD;
    w->direction = lk_direction;
    w->yh = lk_y + step_y[lk_direction] * 12;
    w->xh = lk_x + step_x[lk_direction] * 12;
    w->damage = wSwordLevel;
    wLinkUsingItem1 = 1;
    wLinkTurningDisabled = 1;
    scene_changed = 1;

    if (wRoomLayout[pos] == TILE_BUSH) {
        room_set_tile(pos, TILE_GRASS);
        room_draw_cell(pos);
        player_walls();
        drop_random((pos & 0xF0) + 8, (uint8_t)(pos << 4) + 8);
    }
}

void action_press(uint8_t item) {
    uint8_t pos = facing_pos();

    if (pos < 0x80 && (pos & 0x0F) < 10 && interact(pos))
        return;
    if (item == ITEM_SWORD)
        start_swing(pos);
}

/* Twenty frames against a tile: locked doors open. */
void action_push(void) {
    uint8_t pos = facing_pos(), index = wRoomLayout[pos];

    if (!wDungeonSmallKeys[CAVE_INDEX])
        return;
    if (index == TILE_KEYHOLE) {
        *room_flags() |= ROOMFLAG_80;
        room_set_tile(pos, TILE_CAVE_MOUTH);
    } else if (index == TILE_KEYDOOR_UP + lk_direction) {
        *room_flags() |= 1 << lk_direction;
        room_set_tile(pos, TILE_FLOOR);
    } else {
        return;
    }
    wDungeonSmallKeys[CAVE_INDEX]--;
    room_draw_cell(pos);
    player_walls();
}
