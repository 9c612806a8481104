/*
 * The boss: 32x32 pixels. It sways along the wall and spits at the player;
 * with half its health gone it comes after him and spits three ways.
 */
#include "game.h"

#define BOSS_HEALTH 12
#define TOP_Y 0x28

void boss_spawn(const room_object_t *o) {
    uint8_t flags = *room_flags();
    object_t *e;

    if (flags & ROOMFLAG_80) {
        shutters_open();
        if (!(flags & ROOMFLAG_ITEM))
            treasure_spawn(o->pos, TREASURE_CONTAINER, ROOMFLAG_ITEM, 0);
        return;
    }
    e = enemy_new(o->a, o->pos);
    if (!e)
        return;
    e->health = BOSS_HEALTH;
    e->damage = 4;
    e->var30 = o->pos;
    e->radiusY = e->radiusX = 14;
    e->state = SWAYING;
    e->counter1 = 64;
    enemy_turn(e, DIR_RIGHT);
}

/* One of eight angles towards the player. */
static uint8_t aim(object_t *e) {
    uint8_t level = near(e->yh, lk_y, 14), upright = near(e->xh, lk_x, 14);
    uint8_t below = lk_y > e->yh, right = lk_x > e->xh;

    if (level)
        return right ? 0x08 : 0x18;
    if (upright)
        return below ? 0x10 : 0x00;
    if (below)
        return right ? 0x0C : 0x14;
    return right ? 0x04 : 0x1C;
}

static void sway(object_t *e) {
    if (--e->counter1 == 0) {
        e->counter1 = 64;
        shot_spawn(e->yh + 8, e->xh, aim(e));
    }
    if (e->counter1 & 1)
        return;
    if (e->yh > TOP_Y) {
        e->yh--;
    } else {
        if (e->xh < 0x24) enemy_turn(e, DIR_RIGHT);
        if (e->xh > 0x7C) enemy_turn(e, DIR_LEFT);
        e->xh += step_x[e->direction];
    }
    scene_changed = 1;
}

static void spit_three(object_t *e) {
    uint8_t angle = aim(e);

    shot_spawn(e->yh, e->xh, (angle - 4) & 0x1C);
    shot_spawn(e->yh, e->xh, angle);
    shot_spawn(e->yh, e->xh, (angle + 4) & 0x1C);
}

/* Comes nearer for a while, then rests and spits; the rest is the time to strike. */
static void hunt(object_t *e) {
    if (--e->counter1 == 0) {
        if (e->state == RESTING) {
            e->state = MOVING;
            e->counter1 = 70;
        } else {
            e->state = RESTING;
            e->counter1 = 60;
            spit_three(e);
        }
    }
    if (e->state != MOVING || (e->counter1 & 1))
        return;
    enemy_turn(e, towards_player(e));
    if (e->yh < lk_y && e->yh < 0x64) e->yh++;
    if (e->yh > lk_y && e->yh > 0x1C) e->yh--;
    if (e->xh < lk_x && e->xh < 0x80) e->xh++;
    if (e->xh > lk_x && e->xh > 0x20) e->xh--;
    scene_changed = 1;
}

void boss_update(object_t *e) {
    if (e->health > BOSS_HEALTH / 2) {
        sway(e);
        return;
    }
    if (e->state == SWAYING) {
        e->state = MOVING;
        e->counter1 = 70;
    }
    hunt(e);
}

/* The way on opens, and a heart is left where it first stood. */
void boss_beaten(object_t *e) {
    *room_flags() |= ROOMFLAG_80;
    shutters_open();
    treasure_spawn(e->var30, TREASURE_CONTAINER, ROOMFLAG_ITEM, 0);
}

void boss_draw(object_t *e) {
    uint8_t y = e->yh, x = e->xh, attr = 4, top = SPR_BOSS_T, bottom = SPR_BOSS_B0;

    if (e->state == DYING) {
        sprite16(y + ((e->counter1 << 1) & 16) - 8, x + (e->counter1 & 16) - 8, SPR_BLAST, 3);
        return;
    }
    if (e->health <= BOSS_HEALTH / 2)
        attr = 5;
    if (e->invincibility & 4)
        attr = FLASH(attr);
    if (e->counter1 & 16) {
        top = SPR_BOSS_T2;
        bottom = SPR_BOSS_B1;
    }
    sprite16(y - 8, x - 8, top, attr);
    sprite16(y - 8, x + 8, top, attr | OBJ_FLIPX);
    sprite16(y + 8, x - 8, bottom, attr);
    sprite16(y + 8, x + 8, bottom, attr | OBJ_FLIPX);
}
