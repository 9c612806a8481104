/* Slots: people, things to find, enemies, parts. */
#include "game.h"

uint8_t scene_changed;
/* One past the highest slot in use, so that empty slots cost nothing. */
uint8_t npc_top, enemy_top, part_top;

uint8_t near(uint8_t a, uint8_t b, uint8_t r) {
    uint8_t d = a - b;

    if (d & 0x80)
        d = -d;
    return d < r;
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
    SLOT_PUSHED->enabled = 0;
    tools_clear();
    carry_drop();
}

/* Slot i of a kind (first slot given), made empty. */
static object_t *take(object_t *first, uint8_t i, uint8_t *top, uint8_t id) {
    object_t *o = (object_t *)((uint16_t)first + ((uint16_t)i << 8));

    if (i >= NUM_SLOTS)
        return 0;
    if (i >= *top)
        *top = i + 1;
    wipe(o);
    o->enabled = 1;
    o->id = id;
    o->state = 1;
    o->visible = 1;
    o->radiusY = o->radiusX = 6;
    o->direction = DIR_DOWN;
    o->angle = 0x10;
    scene_changed = 1;
    return o;
}

static void put_at(object_t *o, uint8_t pos) {
    o->yh = PIXEL_Y(pos);
    o->xh = PIXEL_X(pos);
}

object_t *spawn_npc(uint8_t id, uint8_t pos) {
    uint8_t i = FIRST_INTERACTION;
    object_t *n;

    while (i < npc_top && SLOT_INTERACTION(i)->enabled)
        i++;
    n = take(SLOT_INTERACTION(0), i, &npc_top, id);
    if (n)
        put_at(n, pos);
    return n;
}

object_t *enemy_new(uint8_t id, uint8_t pos) {
    uint8_t i = 0;
    object_t *e;

    while (i < enemy_top && SLOT_ENEMY(i)->enabled)
        i++;
    e = take(SLOT_ENEMY(0), i, &enemy_top, id);
    if (!e)
        return 0;
    put_at(e, pos);
    e->collisionType = 0x80 | id;
    e->health = id == ENEMY_BAT ? 1 : 2;
    e->damage = id == ENEMY_BEETLE ? 4 : 2;
    e->counter1 = 30;
    wNumEnemies++;
    return e;
}

object_t *part_new(uint8_t id, uint8_t y, uint8_t x) {
    uint8_t i = 0;
    object_t *p;

    while (i < part_top && SLOT_PART(i)->enabled)
        i++;
    p = take(SLOT_PART(0), i, &part_top, id);
    if (!p)
        return 0;
    p->yh = y;
    p->xh = x;
    return p;
}

/* Solid, and A reaches it. */
static void make_talkable(object_t *n, uint8_t pos) {
    uint8_t i = 0;

    if (!n)
        return;
    wRoomCollisions[pos] = SOLID;
    while (wAButtonList[i])
        i++;
    wAButtonList[i] = (uint16_t)n | 0x31;
}

static void spawn_person(const room_object_t *o) {
    object_t *n = spawn_npc(o->a, o->pos);

    if (n)
        n->var30 = o->b;
    make_talkable(n, o->pos);
}

/* Something that looks like a treasure; its picture is looked up once. */
static object_t *thing_new(uint8_t id, uint8_t pos, uint8_t treasure, uint8_t b, uint8_t c) {
    object_t *n = spawn_npc(id, pos);

    if (!n)
        return 0;
    n->var30 = treasure;
    n->var31 = b;
    n->var32 = c;
    n->var33 = treasure_sprite(treasure);
    n->oamFlags = treasure_attr(treasure);
    return n;
}

/* Things a shop sells only once are gone when they are owned. */
static void spawn_ware(const room_object_t *o) {
    object_t *n;

    if (o->a == TREASURE_HEART_PIECE ? *room_flags() & ROOMFLAG_ITEM
        : o->a != TREASURE_BOMBS && o->a != TREASURE_EMBER_SEEDS &&
              o->a != TREASURE_HEART_REFILL && has_treasure(o->a))
        return;
    n = thing_new(NPC_SHOPITEM, o->pos, o->a, o->b, o->c);
    make_talkable(n, o->pos);
}

/* Lies there until the player walks over it. */
void treasure_spawn(uint8_t pos, uint8_t treasure, uint8_t flag, uint8_t amount) {
    thing_new(NPC_TREASURE, pos, treasure, flag, amount);
}

static void spawn_essence(uint8_t pos) {
    object_t *n = spawn_npc(NPC_ESSENCE, pos);

    if (n) {
        n->yh += 8; /* on the middle of 2x2 runes */
        n->xh += 8;
    }
}

void objects_spawn(const room_object_t *o) {
    uint8_t flags = *room_flags();

    switch (o->kind) {
    case O_NPC:
        spawn_person(o);
        break;
    case O_SHOP:
        spawn_ware(o);
        break;
    case O_ENEMY:
        enemy_new(o->a, o->pos);
        break;
    case O_BOSS:
        boss_spawn(o);
        break;
    case O_PICKUP:
        if (!(flags & o->b))
            drop_spawn(PIXEL_Y(o->pos), PIXEL_X(o->pos), o->a, o->b);
        break;
    case O_TREASURE:
        if (!(flags & o->b))
            treasure_spawn(o->pos, o->a, o->b, o->c);
        break;
    case O_ESSENCE:
        if (!(flags & ROOMFLAG_ITEM))
            spawn_essence(o->pos);
        break;
    case O_BUTTON:
        part_new(PART_BUTTON, PIXEL_Y(o->pos), PIXEL_X(o->pos));
        break;
    case O_LEVER:
        part_new(PART_LEVER, PIXEL_Y(o->pos), PIXEL_X(o->pos));
        room_set_tile(o->pos, wSwitchState & (1 << o->a) ? TILE_ORB_ON : TILE_ORB_OFF);
        break;
    }
}

static void take_essence(object_t *n) {
    n->enabled = 0;
    *room_flags() |= ROOMFLAG_ITEM;
    give_treasure(TREASURE_ESSENCE, 0);
    ending_run();
}

static void take_treasure(object_t *n) {
    n->enabled = 0;
    *room_flags() |= n->var31;
    give_treasure(n->var30, n->var32);
    scene_changed = 1;
}

/* Things that wait to be touched. Taking the essence ends the room, so it comes last. */
static void things_update(void) {
    uint8_t i;
    object_t *n;

    for (i = FIRST_INTERACTION; i < npc_top; i++) {
        n = SLOT_INTERACTION(i);
        if (!n->enabled || n->id < NPC_TREASURE)
            continue;
        if (!near(n->yh, lk_y, 11) || !near(n->xh, lk_x, 11) || air)
            continue;
        if (n->id == NPC_ESSENCE) {
            take_essence(n);
            return;
        }
        take_treasure(n);
    }
}

static void parts_update(void) {
    uint8_t i;
    object_t *p;

    for (i = 0; i < part_top; i++) {
        p = SLOT_PART(i);
        if (!p->enabled)
            continue;
        if (p->id == PART_DROP)
            drop_update(p);
        else if (p->id == PART_SHOT)
            shot_update(p);
    }
}

void objects_update(void) {
    uint8_t i;
    object_t *e;

    tools_update();
    carry_update();
    block_update();
    for (i = 0; i < enemy_top; i++) {
        e = SLOT_ENEMY(i);
        if (e->enabled)
            enemy_update(e);
    }
    parts_update();
    things_update();
}

static void draw_person(object_t *n) {
    switch (n->id) {
    case NPC_ESSENCE: sprite16(n->yh, n->xh, SPR_SEED, 7); break;
    case NPC_CHILD:   sprite16(n->yh, n->xh, SPR_CHILD, 1); break;
    case NPC_MAN:     sprite16(n->yh, n->xh, SPR_MAN, 7); break;
    case NPC_GIRL:    sprite16(n->yh, n->xh, SPR_GIRL, 0); break;
    case NPC_ELDER:   sprite16(n->yh, n->xh, SPR_ELDER, 1); break;
    case NPC_KEEPER:  sprite16(n->yh, n->xh, SPR_KEEPER, 0); break;
    case NPC_SPIRIT:  sprite16(n->yh, n->xh, n->yh & 8 ? SPR_SPIRIT : SPR_SPIRIT1, 2); break;
    case NPC_TREASURE:
    case NPC_SHOPITEM:
        sprite16(n->yh, n->xh, n->var33, n->oamFlags);
        break;
    default:
        sprite16(n->yh, n->xh, SPR_GRANNY, 1);
        break;
    }
}

void objects_draw(void) {
    uint8_t i;
    object_t *o = SLOT_PUSHED;

    tools_draw();
    carry_draw();
    if (o->enabled)
        sprite16(o->yh, o->xh, SPR_BLOCK, 6);
    for (i = 0; i < part_top; i++) {
        o = SLOT_PART(i);
        if (o->enabled)
            drop_draw(o);
    }
    for (i = 0; i < enemy_top; i++) {
        o = SLOT_ENEMY(i);
        if (o->enabled)
            enemy_draw(o);
    }
    for (i = FIRST_INTERACTION; i < npc_top; i++) {
        o = SLOT_INTERACTION(i);
        if (o->enabled)
            draw_person(o);
    }
}
