/* The player: walking, walls, being hurt. */
#include "game.h"

#define PUSH_FRAMES  20
#define MARGIN_Y 0x79
#define MARGIN_X 0x9A

uint8_t swing;
const int8_t step_y[4] = {-1, 0, 1, 0};
const int8_t step_x[4] = {0, 1, 0, -1};
static uint8_t walk_clock;

/* What the pad asks for: low nibble of the key byte's upper half to angle. */
static const uint8_t angle_of_keys[16] = {
    0xFF, 0x08, 0x18, 0xFF, /* -, R, L, RL */
    0x00, 0x04, 0x1C, 0x00, /* U, UR, UL */
    0x10, 0x0C, 0x14, 0x10, /* D, DR, DL */
    0xFF, 0x08, 0x18, 0xFF};

/* Pairs of probe points around the centre, most significant bit first. */
void player_walls(void) {
    uint8_t y = lk_y, x = lk_x, w = 0;

    if (solid_at(y - 3, x - 3)) w |= 0x80;
    if (solid_at(y - 3, x + 2)) w |= 0x40;
    if (solid_at(y + 7, x - 3)) w |= 0x20;
    if (solid_at(y + 7, x + 2)) w |= 0x10;
    if (solid_at(y, x - 5))     w |= 0x08;
    if (solid_at(y + 5, x - 5)) w |= 0x04;
    if (solid_at(y, x + 4))     w |= 0x02;
    if (solid_at(y + 5, x + 4)) w |= 0x01;
    lk_walls = w;
}

void player_tile(void) {
    uint8_t pos = ((lk_y + 5) & 0xF0) | (lk_x >> 4);

    wActiveTilePos = pos;
    wActiveTileIndex = wRoomLayout[pos];
    wActiveTileType = tile_type[wActiveTileIndex];
}

/* Tile in front of the player. */
uint8_t facing_pos(void) {
    uint8_t y = lk_y + 2, x = lk_x;

    switch (lk_direction) {
    case DIR_UP:   y = lk_y - 7; break;
    case DIR_DOWN: y = lk_y + 11; break;
    case DIR_LEFT: x -= 9; break;
    default:       x += 8; break;
    }
    return (y & 0xF0) | (x >> 4);
}

/*
 * One pixel in one direction. Where only one of the two probes meets a wall
 * the player slides around the corner instead, unless the pad also asks for
 * the other axis. Returns 1 where a wall stopped it.
 */
static uint8_t move(uint8_t dir, uint8_t slide) {
    static const uint8_t both[4] = {0xC0, 0x03, 0x30, 0x0C};
    static const uint8_t first[4] = {0x80, 0x02, 0x20, 0x08};
    uint8_t w = lk_walls & both[dir];

    if (!w) {
        lk_y += step_y[dir];
        lk_x += step_x[dir];
        return 0;
    }
    if (w == both[dir])
        return 1;
    if (slide) {
        if (dir & 1)
            lk_y += w == first[dir] ? 1 : -1;
        else
            lk_x += w == first[dir] ? 1 : -1;
    }
    return 0;
}

/* Keep to the room where nothing lies beyond the edge; otherwise scroll. */
static uint8_t leave_by(uint8_t dir) {
    if (lk_knockback == 0 && room_find(wActiveGroup, room_neighbour(dir))) {
        room_scroll(dir);
        return 1;
    }
    switch (dir) {
    case DIR_UP:   lk_y = 6; break;
    case DIR_DOWN: lk_y = MARGIN_Y; break;
    case DIR_LEFT: lk_x = 6; break;
    default:       lk_x = MARGIN_X; break;
    }
    return 0;
}

static uint8_t check_edges(void) {
    if (lk_y <= 5 || lk_y > 0xF0) return leave_by(DIR_UP);
    if (lk_y > MARGIN_Y) return leave_by(DIR_DOWN);
    if (lk_x <= 5 || lk_x > 0xF0) return leave_by(DIR_LEFT);
    if (lk_x > MARGIN_X) return leave_by(DIR_RIGHT);
    return 0;
}

static void walk(uint8_t keys) {
    uint8_t blocked = 0, pad = keys & KEY_DPAD;

    wLinkAngle = angle_of_keys[pad >> 4];
    lk_angle = wLinkAngle;
    if (wLinkAngle == 0xFF) {
        wLinkPushingDirection = DIR_NONE;
        wPushingAgainstTileCounter = PUSH_FRAMES;
        return;
    }
    /* On a diagonal the old facing is kept while its button is down. */
    if (!(wLinkAngle & 4))
        lk_direction = wLinkAngle >> 3;

    if (pad & KEY_UP)
        blocked = move(DIR_UP, pad == KEY_UP);
    else if (pad & KEY_DOWN)
        blocked = move(DIR_DOWN, pad == KEY_DOWN);
    if (pad & KEY_LEFT)
        blocked |= move(DIR_LEFT, pad == KEY_LEFT);
    else if (pad & KEY_RIGHT)
        blocked |= move(DIR_RIGHT, pad == KEY_RIGHT);
    walk_clock++;
    scene_changed = 1;

    if (check_edges())
        return;
    player_walls();
    player_tile();

    if (blocked && !(wLinkAngle & 4)) {
        wLinkPushingDirection = lk_direction;
        if (--wPushingAgainstTileCounter == 0) {
            wPushingAgainstTileCounter = PUSH_FRAMES;
            action_push();
        }
    } else {
        wLinkPushingDirection = DIR_NONE;
        wPushingAgainstTileCounter = PUSH_FRAMES;
    }
}

static void knocked_back(void) {
    uint8_t dir = lk_kbAngle >> 3, i;

    for (i = 0; i < 2; i++) {
        move(dir, 0);
        check_edges();
        player_walls();
    }
    lk_knockback--;
    player_tile();
    scene_changed = 1;
}

static void check_warp(void) {
    const room_object_t *o = room_object_at(O_WARP, wActiveTilePos);

    if (o && tile_collision[wActiveTileIndex] == 0)
        room_warp(o->a, o->b, o->c);
}

void player_hurt(uint8_t quarters, uint8_t angle) {
    if (lk_invinc)
        return;
    wLinkHealth = wLinkHealth > quarters ? wLinkHealth - quarters : 0;
    lk_invinc = 40;
    lk_knockback = 8;
    lk_kbAngle = angle;
    swing = 0;
}

void player_update(void) {
    uint8_t pos = wActiveTilePos;

    if (lk_invinc) {
        lk_invinc--;
        scene_changed = 1;
    }
    if (lk_knockback) {
        knocked_back();
    } else if (swing) {
        scene_changed = 1;
        if (--swing == 0) {
            SLOT_WEAPON->enabled = 0;
            wLinkUsingItem1 = 0;
            wLinkTurningDisabled = 0;
        }
    } else {
        walk(wGameKeysPressed);
        if (wKeysJustPressed & KEY_A)
            action_press(wInventoryA);
        else if (wKeysJustPressed & KEY_B)
            action_press(wInventoryB);
    }
    if (wActiveTilePos != pos)
        check_warp();
}

void player_draw(void) {
    uint8_t tile, attr = 0, dir = lk_direction, y = lk_y, x = lk_x;
    uint8_t frame2 = walk_clock & 8;

    if (swing) {
        tile = dir & 1 ? SPR_BLADE_H : SPR_BLADE_V;
        attr = 6;
        if (dir == DIR_DOWN) attr |= OBJ_FLIPY;
        if (dir == DIR_LEFT) attr |= OBJ_FLIPX;
        sprite16(y + step_y[dir] * 12, x + step_x[dir] * 12, tile, attr);
        attr = 0;
    }
    lk_visible = !(lk_invinc & 2);
    if (!lk_visible)
        return;
    switch (dir) {
    case DIR_UP:   tile = SPR_P_UP; if (frame2) attr = OBJ_FLIPX; break;
    case DIR_DOWN: tile = SPR_P_DOWN; if (frame2) attr = OBJ_FLIPX; break;
    default:
        tile = frame2 ? SPR_P_SIDE1 : SPR_P_SIDE0;
        if (dir == DIR_LEFT) attr = OBJ_FLIPX;
    }
    sprite16(y, x, tile, attr);
}
