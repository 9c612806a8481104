/* What spitters and the boss throw. It flies in one of eight directions. */
#include "game.h"

static const int8_t fly_y[8] = {-2, -1, 0, 1, 2, 1, 0, -1};
static const int8_t fly_x[8] = {0, 1, 2, 1, 0, -1, -2, -1};

/* angle: 0-31, clockwise from up. */
void shot_spawn(uint8_t y, uint8_t x, uint8_t angle) {
    object_t *p = part_new(PART_SHOT, y, x);

    if (!p)
        return;
    p->angle = angle;
    p->direction = angle >> 3;
    p->collisionType = 0x80;
    p->damage = 2;
}

/* The shield stops what comes from the front while the hands are free. */
static uint8_t shielded(object_t *p) {
    return has_treasure(TREASURE_SHIELD) && !swing && !wLinkGrabState &&
           ((uint8_t)(lk_direction << 3) ^ 0x10) == p->angle;
}

void shot_update(object_t *p) {
    uint8_t way = p->angle >> 2;

    scene_changed = 1;
    p->yh += fly_y[way];
    p->xh += fly_x[way];
    if (p->yh < 4 || p->yh > 0x7C || p->xh < 4 || p->xh > 0x9C || solid_at(p->yh, p->xh)) {
        p->enabled = 0;
        return;
    }
    if (lk_invinc || air || !near(p->yh, lk_y, 8) || !near(p->xh, lk_x, 8))
        return;
    p->enabled = 0;
    if (!shielded(p))
        player_hurt(p->damage, p->angle);
}
