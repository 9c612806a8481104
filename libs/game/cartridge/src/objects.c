/* Slots: people, enemies, things lying around. */
#include "game.h"

uint8_t scene_changed;
/* One past the highest slot in use, so that empty slots cost nothing. */
static uint8_t npc_top, enemy_top, part_top;
static uint8_t anim_clock;

uint8_t near(uint8_t a, uint8_t b, uint8_t r) {
    uint8_t d = a - b;

    if (d & 0x80)
        d = -d;
    return d < r;
}

static void wipe(object_t *o) {
    uint8_t *p = (uint8_t *)o, i;

    for (i = 0x40; i; i--)
        *p++ = 0;
}

void objects_clear(void) {
    uint8_t i;

    for (i = 0; i < NUM_SLOTS; i++) {
        if (i < npc_top) wipe(SLOT_INTERACTION(i));
        if (i < enemy_top) wipe(SLOT_ENEMY(i));
        if (i < part_top) wipe(SLOT_PART(i));
        wAButtonList[i] = 0;
    }
    npc_top = FIRST_INTERACTION;
    enemy_top = part_top = 0;
    wNumEnemies = 0;
    SLOT_WEAPON->enabled = 0;
    swing = 0;
}

static void place(object_t *o, uint8_t id, uint8_t pos) {
    o->enabled = 1;
    o->id = id;
    o->state = 1;
    o->yh = (pos & 0xF0) + 8;
    o->xh = (uint8_t)(pos << 4) + 8;
    o->visible = 1;
    o->radiusY = o->radiusX = 6;
}

static void spawn_npc(uint8_t id, uint8_t pos, uint8_t text) {
    object_t *n = SLOT_INTERACTION(npc_top);
    uint8_t i;

    place(n, id, pos);
    n->var30 = text;
    n->direction = DIR_DOWN;
    npc_top++;
    if (id == NPC_ESSENCE)
        return;
    wRoomCollisions[pos] = SOLID;
    for (i = 0; wAButtonList[i]; i++)
        ;
    wAButtonList[i] = (uint16_t)n | 0x31;
}

static void spawn_enemy(uint8_t id, uint8_t pos) {
    object_t *e = SLOT_ENEMY(enemy_top);

    place(e, id, pos);
    e->collisionType = 0x80 | id;
    e->health = id == ENEMY_BAT ? 1 : 2;
    e->damage = id == ENEMY_BEETLE ? 4 : 2;
    e->counter1 = 30;
    e->direction = DIR_DOWN;
    e->angle = 0x10;
    enemy_top++;
    wNumEnemies++;
}

void drop_spawn(uint8_t y, uint8_t x, uint8_t subid, uint8_t flag) {
    uint8_t i;
    object_t *p;

    for (i = 0; i < part_top && SLOT_PART(i)->enabled; i++)
        ;
    if (i == NUM_SLOTS)
        return;
    if (i == part_top)
        part_top++;
    p = SLOT_PART(i);
    wipe(p);
    place(p, PART_DROP, 0);
    p->subid = subid;
    p->yh = y;
    p->xh = x;
    p->collisionType = 0x80;
    p->var30 = flag;
    scene_changed = 1;
}

/* Bushes and enemies leave something about every second time. */
void drop_random(uint8_t y, uint8_t x) {
    uint8_t r = rng() & 7;

    if (r < 3)
        drop_spawn(y, x, DROP_COIN, 0);
    else if (r == 3)
        drop_spawn(y, x, DROP_HEART, 0);
}

void objects_spawn(const room_object_t *o) {
    switch (o->kind) {
    case O_NPC:
        spawn_npc(o->a, o->pos, o->b);
        break;
    case O_ENEMY:
        spawn_enemy(o->a, o->pos);
        break;
    case O_PICKUP:
        if (!(*room_flags() & o->b))
            drop_spawn((o->pos & 0xF0) + 8, (uint8_t)(o->pos << 4) + 8, o->a, o->b);
        break;
    case O_ESSENCE:
        if (!(*room_flags() & ROOMFLAG_ITEM)) {
            spawn_npc(NPC_ESSENCE, o->pos, 0);
            SLOT_INTERACTION(npc_top - 1)->yh += 8; /* on the middle of 2x2 runes */
            SLOT_INTERACTION(npc_top - 1)->xh += 8;
        }
        break;
    }
}

static void take_drop(object_t *p) {
    switch (p->subid) {
    case DROP_HEART:
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
    }
    *room_flags() |= p->var30;
    p->enabled = 0;
    p->collisionType = 0;
}

/* The end of the story so far; play goes on afterwards. */
static void take_essence(object_t *n) {
    n->enabled = 0;
    *room_flags() |= ROOMFLAG_ITEM;
    wEssencesObtained |= 1;
    give_treasure(TREASURE_ESSENCE);
    scene_draw();
    hud_update();
    text_show(TEXT_ESSENCE);
    wGlobalFlags[5] |= 0x01; /* finished */
    wFileIsCompleted = 1;
    wLinkHealth = wLinkMaxHealth;
    lk_direction = DIR_DOWN;
    room_warp(0, START_ROOM, START_POS);
}

void objects_update(void) {
    uint8_t i;
    object_t *o;

    for (i = 0; i < enemy_top; i++) {
        o = SLOT_ENEMY(i);
        if (o->enabled)
            enemy_update(o);
    }
    for (i = 0; i < part_top; i++) {
        o = SLOT_PART(i);
        if (o->enabled && near(o->yh, lk_y, 11) && near(o->xh, lk_x, 11)) {
            take_drop(o);
            scene_changed = 1;
        }
    }
    if (wActiveGroup >= 4 && npc_top > FIRST_INTERACTION) {
        o = SLOT_INTERACTION(FIRST_INTERACTION);
        if (o->enabled && o->id == NPC_ESSENCE && near(o->yh, lk_y, 11) && near(o->xh, lk_x, 11))
            take_essence(o);
    }
}

void objects_draw(void) {
    uint8_t i;
    object_t *o;

    for (i = 0; i < enemy_top; i++) {
        o = SLOT_ENEMY(i);
        if (o->enabled)
            enemy_draw(o);
    }
    for (i = 0; i < part_top; i++) {
        o = SLOT_PART(i);
        if (!o->enabled)
            continue;
        switch (o->subid) {
        case DROP_HEART: sprite16(o->yh, o->xh, SPR_HEART, 5); break;
        case DROP_COIN5: sprite16(o->yh, o->xh, SPR_COIN, 2); break;
        default:         sprite16(o->yh, o->xh, SPR_COIN, 7); break;
        }
    }
    for (i = FIRST_INTERACTION; i < npc_top; i++) {
        o = SLOT_INTERACTION(i);
        if (!o->enabled)
            continue;
        switch (o->id) {
        case NPC_ESSENCE: sprite16(o->yh, o->xh, SPR_SEED, 7); break;
        case NPC_CHILD:   sprite16(o->yh, o->xh, SPR_CHILD, 1); break;
        default:          sprite16(o->yh, o->xh, SPR_GRANNY, 1); break;
        }
    }
}
