/* The bracelet: pots and rocks over the head, and through the air. */
#include "game.h"

#define FLIGHT_FRAMES 14

enum { HELD = 1, FLYING, BREAKING };

/* 1 = something heavy stands there, lifted or not. */
uint8_t lift(uint8_t pos) {
    object_t *c = SLOT_CARRIED;
    uint8_t index = wRoomLayout[pos];

    if (index != TILE_POT && index != TILE_POT_IN && index != TILE_ROCK && index != TILE_MUSHROOM)
        return 0;
    if (!has_treasure(TREASURE_BRACELET)) {
        text_show(TEXT_HEAVY);
        return 1;
    }
    if (c->enabled)
        return 1;
    room_change(pos, tile_under(index));
    c->enabled = 1;
    c->id = index;
    c->state = HELD;
    sfx(SFX_LIFT);
    wLinkGrabState = 0x83;
    scene_changed = 1;
    return 1;
}

void throw_carried(void) {
    object_t *c = SLOT_CARRIED;

    c->state = FLYING;
    sfx(SFX_SWING);
    c->counter1 = FLIGHT_FRAMES;
    c->direction = lk_direction;
    c->angle = (uint8_t)(lk_direction << 3);
    c->yh = lk_y - 4;
    c->xh = lk_x;
    wLinkGrabState = 0;
    scene_changed = 1;
}

void carry_drop(void) {
    SLOT_CARRIED->enabled = 0;
    wLinkGrabState = 0;
}

static void break_it(object_t *c) {
    c->state = BREAKING;
    sfx(SFX_CUT);
    c->counter1 = 8;
    enemies_hit_near(c->yh, c->xh, 14, 2);
    drop_random(c->yh, c->xh);
}

static uint8_t hits_wall(object_t *c) {
    return c->yh < 8 || c->yh > 0x78 || c->xh < 8 || c->xh > 0x98 || solid_at(c->yh, c->xh);
}

/* Given the slot: SDCC 4.2 mixes up the fields of a pointer that is a constant. */
static void flight_update(object_t *c) {
    scene_changed = 1;
    if (c->state == FLYING) {
        c->yh += step_y[c->direction] * 3;
        c->xh += step_x[c->direction] * 3;
        if (--c->counter1 == 0 || hits_wall(c))
            break_it(c);
    } else if (--c->counter1 == 0) {
        c->enabled = 0;
    }
}

void carry_update(void) {
    if (SLOT_CARRIED->enabled && SLOT_CARRIED->state != HELD)
        flight_update(SLOT_CARRIED);
}

void carry_draw(void) {
    object_t *c = SLOT_CARRIED;
    uint8_t tile = SPR_ROCK, attr = 3;

    if (!c->enabled)
        return;
    if (c->id == TILE_POT || c->id == TILE_POT_IN) {
        tile = SPR_POT;
        attr = 6;
    }
    if (c->state == HELD)
        sprite16(lk_y - 13, lk_x, tile, attr);
    else if (c->state == FLYING)
        sprite16(c->yh, c->xh, tile, attr);
    else
        sprite16(c->yh, c->xh, SPR_PUFF, 4);
}
