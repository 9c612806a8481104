/*
 * Enemies. Each is a small state machine in its slot: counter1 counts the
 * frames of the present state.
 */
#include "game.h"

/* Enemies stay out of water and holes. */
static uint8_t wall_at(uint8_t y, uint8_t x) {
    return wRoomCollisions[(y & 0xF0) | (x >> 4)] >= HAZARD || solid_at(y, x);
}

/* Walls, and the rim of the room, where enemies turn round. */
static uint8_t blocked(uint8_t y, uint8_t x, uint8_t dir) {
    switch (dir) {
    case DIR_UP:    return y < 14 || wall_at(y - 7, x - 6) || wall_at(y - 7, x + 5);
    case DIR_DOWN:  return y > 0x72 || wall_at(y + 7, x - 6) || wall_at(y + 7, x + 5);
    case DIR_LEFT:  return x < 14 || wall_at(y - 6, x - 7) || wall_at(y + 5, x - 7);
    default:        return x > 0x92 || wall_at(y - 6, x + 7) || wall_at(y + 5, x + 7);
    }
}

void enemy_turn(object_t *e, uint8_t dir) {
    e->direction = dir;
    e->angle = (uint8_t)(dir << 3);
}

/* Direction that closes the larger gap to the player. */
uint8_t towards_player(object_t *e) {
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
            enemy_turn(e, r & 4 ? towards_player(e) : r & 3);
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
        enemy_turn(e, rng() & 3);
    }
    if ((e->counter1 & 1) && !step(e)) {
        enemy_turn(e, (e->direction + 1 + (rng() & 2)) & 3);
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
            enemy_turn(e, r & 8 ? towards_player(e) : r & 3);
        } else {
            e->state = RESTING;
            e->counter1 = 40;
        }
    }
    if (e->state != MOVING)
        return;
    if (e->yh < 18) enemy_turn(e, DIR_DOWN);
    if (e->yh > 0x6E) enemy_turn(e, DIR_UP);
    if (e->xh < 18) enemy_turn(e, DIR_RIGHT);
    if (e->xh > 0x8E) enemy_turn(e, DIR_LEFT);
    e->yh += step_y[e->direction];
    e->xh += step_x[e->direction];
    scene_changed = 1;
}

/* Walks about; stops, looks at the player and spits. */
static void spitter(object_t *e) {
    uint8_t r;

    if (--e->counter1 == 0) {
        scene_changed = 1;
        r = rng();
        if (e->state == MOVING) {
            e->state = RESTING;
            e->counter1 = 40;
            enemy_turn(e, r & 3 ? towards_player(e) : e->direction);
        } else {
            e->state = MOVING;
            e->counter1 = 40 + (r & 31);
            enemy_turn(e, r & 3);
        }
    }
    if (e->state == RESTING && e->counter1 == 20)
        shot_spawn(e->yh, e->xh, e->angle);
    if (e->state == MOVING && (e->counter1 & 1) && !step(e))
        enemy_turn(e, (e->direction + 1) & 3);
}

/* Creeps about; runs when the player is in line with it. */
static void charger(object_t *e) {
    uint8_t dir;

    if (e->state == RUNNING) {
        if (--e->counter1 == 0 || !step(e) || !step(e)) {
            e->state = RESTING;
            e->counter1 = 40;
        }
        return;
    }
    if (--e->counter1 == 0) {
        e->state = MOVING;
        e->counter1 = 48;
        enemy_turn(e, rng() & 3);
    }
    if (e->state != MOVING)
        return;
    if (near(e->yh, lk_y, 6) || near(e->xh, lk_x, 6)) {
        dir = towards_player(e);
        if (!blocked(e->yh, e->xh, dir)) {
            enemy_turn(e, dir);
            e->state = RUNNING;
            e->counter1 = 60;
            return;
        }
    }
    if ((e->counter1 & 3) == 0 && !step(e))
        enemy_turn(e, (e->direction + 1) & 3);
}

static void defeat(object_t *e) {
    e->health = 0;
    e->state = DYING;
    e->counter1 = e->id == ENEMY_BOSS ? 60 : 14;
    e->collisionType = 0;
    if (wTotalEnemiesKilled < 1000)
        wTotalEnemiesKilled++;
}

void enemy_hit(object_t *e, uint8_t damage, uint8_t angle) {
    if (e->state == DYING || e->invincibility)
        return;
    scene_changed = 1;
    sfx(SFX_HIT);
    if (e->health <= damage) {
        sfx(SFX_BEATEN);
        defeat(e);
        return;
    }
    e->health -= damage;
    e->invincibility = 16;
    if (e->id == ENEMY_BOSS)
        return;
    e->knockback = 8;
    e->knockbackAngle = angle;
}

void enemies_hit_near(uint8_t y, uint8_t x, uint8_t r, uint8_t damage) {
    uint8_t i;
    object_t *e;

    for (i = 0; i < enemy_top; i++) {
        e = SLOT_ENEMY(i);
        if (e->enabled && near(e->yh, y, r) && near(e->xh, x, r))
            enemy_hit(e, damage, (uint8_t)(towards_player(e) << 3) ^ 0x10);
    }
}

static void touch(object_t *e) {
    object_t *w = SLOT_WEAPON;
    uint8_t big = e->id == ENEMY_BOSS ? 8 : 0;

    if (swing && w->id == ITEM_SWORD && !e->invincibility &&
        near(e->yh, w->yh, 13 + big) && near(e->xh, w->xh, 13 + big)) {
        enemy_hit(e, wSwordLevel, (uint8_t)(lk_direction << 3));
        return;
    }
    if (!lk_invinc && near(e->yh, lk_y, 10 + big) && near(e->xh, lk_x, 10 + big))
        player_hurt(e->damage, (uint8_t)(towards_player(e) << 3));
}

static void knocked_back(object_t *e) {
    uint8_t dir = (e->knockbackAngle >> 3) & 3, i;

    e->knockback--;
    for (i = 0; i < 2 && !blocked(e->yh, e->xh, dir); i++) {
        e->yh += step_y[dir];
        e->xh += step_x[dir];
    }
}

static void die(object_t *e) {
    scene_changed = 1;
    if (--e->counter1)
        return;
    e->enabled = 0;
    wNumEnemies--;
    puzzle_changed = 1;
    if (e->id == ENEMY_BOSS)
        boss_beaten(e);
    else
        drop_random(e->yh, e->xh);
}

void enemy_update(object_t *e) {
    if (e->state == DYING) {
        die(e);
        return;
    }
    if (e->invincibility) {
        e->invincibility--;
        scene_changed = 1;
    }
    if (e->knockback) {
        knocked_back(e);
        return;
    }
    switch (e->id) {
    case ENEMY_SLIME:   slime(e); break;
    case ENEMY_BEETLE:  beetle(e); break;
    case ENEMY_SPITTER: spitter(e); break;
    case ENEMY_CHARGER: charger(e); break;
    case ENEMY_BOSS:    boss_update(e); break;
    default:            bat(e); break;
    }
    touch(e);
}

/* Pictures for down, up and right; left is the mirrored right. */
static uint8_t faces(object_t *e, uint8_t down, uint8_t up, uint8_t side, uint8_t *attr) {
    if (e->direction == DIR_DOWN) return down;
    if (e->direction == DIR_UP)   return up;
    if (e->direction == DIR_LEFT) *attr |= OBJ_FLIPX;
    return side;
}

void enemy_draw(object_t *e) {
    uint8_t second = e->counter1 & 8, tile, attr;

    if (e->id == ENEMY_BOSS) {
        boss_draw(e);
        return;
    }
    if (e->state == DYING) {
        sprite16(e->yh, e->xh, SPR_PUFF, 4);
        return;
    }
    switch (e->id) {
    case ENEMY_SLIME:
        tile = e->state == MOVING && second ? SPR_SLIME1 : SPR_SLIME0;
        attr = 2;
        break;
    case ENEMY_BEETLE:
        tile = second ? SPR_BEETLE1 : SPR_BEETLE0;
        attr = e->direction == DIR_DOWN ? 3 | OBJ_FLIPY : 3;
        break;
    case ENEMY_SPITTER:
        attr = 5;
        tile = faces(e, SPR_SPITTER0, SPR_SPITTER1, SPR_SPITTER2, &attr);
        break;
    case ENEMY_CHARGER:
        attr = 3;
        tile = faces(e, SPR_CHARGER0, SPR_CHARGER0, SPR_CHARGER1, &attr);
        break;
    default:
        tile = e->state == MOVING && second ? SPR_BAT1 : SPR_BAT0;
        attr = 4;
        break;
    }
    if (e->invincibility & 4)
        attr = FLASH(attr);
    sprite16(e->yh, e->xh, tile, attr);
}
