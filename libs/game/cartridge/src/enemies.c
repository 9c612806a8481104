/*
 * Enemies. Each is a small state machine in its slot: counter1 counts the
 * frames of the present state, "state" is 1 resting, 2 moving, 3 dying.
 */
#include "game.h"

enum { RESTING = 1, MOVING, DYING };

/* Walls, and the rim of the room, where enemies turn round. */
static uint8_t blocked(uint8_t y, uint8_t x, uint8_t dir) {
    switch (dir) {
    case DIR_UP:    return y < 14 || solid_at(y - 7, x - 6) || solid_at(y - 7, x + 5);
    case DIR_DOWN:  return y > 0x72 || solid_at(y + 7, x - 6) || solid_at(y + 7, x + 5);
    case DIR_LEFT:  return x < 14 || solid_at(y - 6, x - 7) || solid_at(y + 5, x - 7);
    default:        return x > 0x92 || solid_at(y - 6, x + 7) || solid_at(y + 5, x + 7);
    }
}

static void turn(object_t *e, uint8_t dir) {
    e->direction = dir;
    e->angle = (uint8_t)(dir << 3);
}

/* Direction that closes the larger gap to the player. */
static uint8_t towards_player(object_t *e) {
    uint8_t dy = e->yh - lk_y, dx = e->xh - lk_x;
    uint8_t ay = dy & 0x80 ? -dy : dy, ax = dx & 0x80 ? -dx : dx;

    if (ay > ax)
        return dy & 0x80 ? DIR_DOWN : DIR_UP;
    return dx & 0x80 ? DIR_RIGHT : DIR_LEFT;
}

/* 1 = moved. */
static uint8_t step(object_t *e) {
    uint8_t dir = e->direction;

    if (blocked(e->yh, e->xh, dir))
        return 0;
    e->yh += step_y[dir];
    e->xh += step_x[dir];
    scene_changed = 1;
    return 1;
}

/* Rests, then hops a little way, every other time towards the player. */
static void slime(object_t *e) {
    uint8_t r;

    if (--e->counter1 == 0) {
        scene_changed = 1;
        r = rng();
        if (e->state == RESTING) {
            e->state = MOVING;
            e->counter1 = 32;
            turn(e, r & 4 ? towards_player(e) : r & 3);
        } else {
            e->state = RESTING;
            e->counter1 = 24 + (r & 15);
        }
    }
    if (e->state == MOVING && (e->counter1 & 1))
        step(e);
}

/* Marches straight on and turns at walls. */
static void beetle(object_t *e) {
    e->state = MOVING;
    if (--e->counter1 == 0) {
        e->counter1 = 64;
        turn(e, rng() & 3);
    }
    if ((e->counter1 & 1) && !step(e)) {
        turn(e, (e->direction + 1 + (rng() & 2)) & 3);
        e->counter1 = 64;
    }
}

/* Hangs still, then flies over everything for a while. */
static void bat(object_t *e) {
    uint8_t r;

    if (--e->counter1 == 0) {
        scene_changed = 1;
        r = rng();
        if (e->state == RESTING || (r & 0x30)) {
            e->state = MOVING;
            e->counter1 = 24 + (r & 7);
            turn(e, r & 8 ? towards_player(e) : r & 3);
        } else {
            e->state = RESTING;
            e->counter1 = 40;
        }
    }
    if (e->state != MOVING)
        return;
    if (e->yh < 18) turn(e, DIR_DOWN);
    if (e->yh > 0x6E) turn(e, DIR_UP);
    if (e->xh < 18) turn(e, DIR_RIGHT);
    if (e->xh > 0x8E) turn(e, DIR_LEFT);
    e->yh += step_y[e->direction];
    e->xh += step_x[e->direction];
    scene_changed = 1;
}

static void struck(object_t *e) {
    if (e->health > wSwordLevel) {
        e->health -= wSwordLevel;
        e->invincibility = 16;
        e->knockback = 8;
        e->knockbackAngle = (uint8_t)(lk_direction << 3);
        return;
    }
    e->health = 0;
    e->state = DYING;
    e->counter1 = 14;
    e->collisionType = 0;
    if (wTotalEnemiesKilled < 1000)
        wTotalEnemiesKilled++;
    wNumEnemies--;
}

static void touch(object_t *e) {
    object_t *w = SLOT_WEAPON;

    if (swing && !e->invincibility && near(e->yh, w->yh, 13) && near(e->xh, w->xh, 13)) {
        struck(e);
        scene_changed = 1;
        return;
    }
    if (!lk_invinc && near(e->yh, lk_y, 10) && near(e->xh, lk_x, 10))
        player_hurt(e->damage, (uint8_t)(towards_player(e) << 3));
}

void enemy_update(object_t *e) {
    uint8_t dir, i;

    if (e->state == DYING) {
        scene_changed = 1;
        if (--e->counter1 == 0) {
            e->enabled = 0;
            drop_random(e->yh, e->xh);
        }
        return;
    }
    if (e->invincibility) {
        e->invincibility--;
        scene_changed = 1;
    }
    if (e->knockback) {
        e->knockback--;
        dir = e->knockbackAngle >> 3;
        for (i = 0; i < 2 && !blocked(e->yh, e->xh, dir); i++) {
            e->yh += step_y[dir];
            e->xh += step_x[dir];
        }
        return;
    }
    switch (e->id) {
    case ENEMY_SLIME:  slime(e); break;
    case ENEMY_BEETLE: beetle(e); break;
    default:           bat(e); break;
    }
    touch(e);
}

void enemy_draw(object_t *e) {
    uint8_t second = e->counter1 & 8, tile, attr;

    if (e->state == DYING) {
        sprite16(e->yh, e->xh, SPR_PUFF, 4);
        return;
    }
    if (e->invincibility & 2)
        return;
    switch (e->id) {
    case ENEMY_SLIME:
        tile = e->state == MOVING && second ? SPR_SLIME1 : SPR_SLIME0;
        attr = 2;
        break;
    case ENEMY_BEETLE:
        tile = second ? SPR_BEETLE1 : SPR_BEETLE0;
        attr = 3;
        if (e->direction == DIR_DOWN)
            attr |= OBJ_FLIPY;
        break;
    default:
        tile = e->state == MOVING && second ? SPR_BAT1 : SPR_BAT0;
        attr = 4;
        break;
    }
    sprite16(e->yh, e->xh, tile, attr);
}
