/* What bushes, pots and enemies leave behind. */
#include "game.h"

void drop_spawn(uint8_t y, uint8_t x, uint8_t subid, uint8_t flag) {
    object_t *p = part_new(PART_DROP, y, x);

    if (!p)
        return;
    p->subid = subid;
    p->collisionType = 0x80;
    p->var30 = flag;
}

/* Bushes and enemies leave something about every second time. */
void drop_random(uint8_t y, uint8_t x) {
    uint8_t r = rng() & 7;

    if (r < 3)
        drop_spawn(y, x, DROP_COIN, 0);
    else if (r == 3)
        drop_spawn(y, x, DROP_HEART, 0);
    else if (r == 4 && has_treasure(TREASURE_BOMBS))
        drop_spawn(y, x, DROP_BOMBS, 0);
    else if (r == 5 && has_treasure(TREASURE_SATCHEL))
        drop_spawn(y, x, DROP_EMBERS, 0);
}

static void take(object_t *p) {
    switch (p->subid) {
    case DROP_HEART:
        sfx(SFX_HEART);
        wLinkHealth += 4;
        if (wLinkHealth > wLinkMaxHealth)
            wLinkHealth = wLinkMaxHealth;
        break;
    case DROP_COIN:
        rupees_add(0x01);
        break;
    case DROP_COIN5:
        rupees_add(0x05);
        break;
    case DROP_BOMBS:
        bcd_add(&wNumBombs, 0x04, wMaxBombs);
        break;
    case DROP_EMBERS:
        bcd_add(&wNumEmberSeeds, 0x05, 0x20);
        break;
    }
    if (p->subid != DROP_HEART)
        sfx(SFX_COIN);
    *room_flags() |= p->var30;
    p->enabled = 0;
    p->collisionType = 0;
    scene_changed = 1;
}

void drop_update(object_t *p) {
    if (near(p->yh, lk_y, 11) && near(p->xh, lk_x, 11) && !air)
        take(p);
}

void drop_draw(object_t *p) {
    if (p->id == PART_SHOT) {
        sprite16(p->yh, p->xh, SPR_SHOT, 7);
        return;
    }
    if (p->id != PART_DROP) /* buttons and levers are tiles */
        return;
    switch (p->subid) {
    case DROP_HEART:  sprite16(p->yh, p->xh, SPR_HEART, 5); break;
    case DROP_COIN5:  sprite16(p->yh, p->xh, SPR_COIN, 2); break;
    case DROP_BOMBS:  sprite16(p->yh, p->xh, SPR_BOMB, 6); break;
    case DROP_EMBERS: sprite16(p->yh, p->xh, SPR_EMBER, 3); break;
    default:          sprite16(p->yh, p->xh, SPR_COIN, 7); break;
    }
}
