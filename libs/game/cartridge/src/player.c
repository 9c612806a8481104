/* The player: walking, walls, being hurt. */
#include "game.h"

#define PUSH_FRAMES  20
#define HURT_FRAMES  40
#define FLASHES (lk_invinc <= HURT_FRAMES && lk_invinc > HURT_FRAMES - 16) /* then he blinks */
#define MARGIN_Y 0x79
#define MARGIN_X 0x9A

uint8_t swing;
uint8_t lifted_sprite, lifted_attr;
const int8_t step_y[4] = {-1, 0, 1, 0};
const int8_t step_x[4] = {0, 1, 0, -1};
uint8_t walk_clock;

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

/* A wall on all sides means that one rose where he stands: it gives way. */
static void free_the_stuck(void) {
    if (lk_walls == 0xFF)
        room_change(wActiveTilePos, room_floor());
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
    if (room_beyond[dir] && !lk_knockback && !air) {
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
    if (!air)
        player_tile();

    if (blocked && !(wLinkAngle & 4) && !air) {
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
    if (!air)
        player_tile();
    scene_changed = 1;
}

static void check_warp(void) {
    const room_object_t *o = room_object_at(O_WARP, wActiveTilePos);

    if (o && tile_collision[wActiveTileIndex] == 0)
        room_warp(o->a, o->b, o->c);
}

void player_hurt(uint8_t quarters, uint8_t angle) {
    if (lk_invinc || air || sinking)
        return;
    wLinkHealth = wLinkHealth > quarters ? wLinkHealth - quarters : 0;
    sfx(SFX_HURT);
    lk_invinc = HURT_FRAMES;
    lk_knockback = 8;
    lk_kbAngle = angle & 0x18;
    swing = 0;
    SLOT_WEAPON->enabled = 0;
    wLinkUsingItem1 = wLinkTurningDisabled = 0;
}

static void swing_update(void) {
    scene_changed = 1;
    if (--swing == 0) {
        SLOT_WEAPON->enabled = 0;
        wLinkUsingItem1 = 0;
        wLinkTurningDisabled = 0;
    }
}

static void obey(void) {
    /* In water every second frame counts. */
    if (!wLinkSwimmingState || (wFrameCounter & 1))
        walk(wGameKeysPressed);
    if (wKeysJustPressed & KEY_A)
        action_press(wInventoryA, 1);
    else if (wKeysJustPressed & KEY_B)
        action_press(wInventoryB, 0);
}

/* He may have come to another tile, by himself or not. */
static void tile_entered(void) {
    uint8_t before = arrivals;

    check_warp();
    if (before != arrivals)
        return;
    buttons_update();
    terrain_step();
}

void player_update(void) {
    uint8_t pos = wActiveTilePos, before = arrivals;

    if (lk_invinc) {
        lk_invinc--;
        scene_changed = 1;
    }
    if (sinking) {
        sink_update();
        return;
    }
    if (air)
        jump_update();
    if (lk_knockback)
        knocked_back();
    else if (swing)
        swing_update();
    else
        obey();
    if (wActiveTilePos != pos && before == arrivals)
        tile_entered();
    free_the_stuck();
}

static void draw_tool(void) {
    uint8_t dir = lk_direction, attr, tile;

    switch (SLOT_WEAPON->id) {
    case ITEM_SWORD:
        tile = dir & 1 ? SPR_BLADE_H : SPR_BLADE_V;
        attr = 6;
        if (dir == DIR_DOWN) attr |= OBJ_FLIPY;
        if (dir == DIR_LEFT) attr |= OBJ_FLIPX;
        break;
    case ITEM_ROD: tile = SPR_ROD; attr = 7; break;
    default:       tile = SPR_SHOVEL; attr = 3; break;
    }
    sprite16(lk_y + step_y[dir] * 12, lk_x + step_x[dir] * 12, tile, attr);
}

static uint8_t body_attr;

/* The tile of the player's picture; its attributes go to body_attr. */
static uint8_t body_tile(void) {
    uint8_t second = walk_clock & 8;

    body_attr = 0;
    if (sinking)
        return SPR_P_FALL;
    if (lifted_sprite != 0xFF)
        return SPR_P_ITEM;
    if (wLinkSwimmingState) {
        if (second) body_attr = OBJ_FLIPX;
        return SPR_P_SWIM;
    }
    switch (lk_direction) {
    case DIR_UP:
        if (second) body_attr = OBJ_FLIPX;
        return SPR_P_UP;
    case DIR_DOWN:
        if (second) body_attr = OBJ_FLIPX;
        return SPR_P_DOWN;
    }
    if (lk_direction == DIR_LEFT) body_attr = OBJ_FLIPX;
    return second ? SPR_P_SIDE1 : SPR_P_SIDE0;
}

void player_draw(void) {
    uint8_t tile;

    if (swing)
        draw_tool();
    /* He flashes when he is hit, then blinks, but not while a text or a scroll holds time still. */
    lk_visible = !(lk_invinc & 2) || FLASHES || wTextIsActive || wScrollMode == SCROLLING;
    if (!lk_visible)
        return;
    if (lifted_sprite != 0xFF)
        sprite16(lk_y - 14, lk_x, lifted_sprite, lifted_attr);
    tile = body_tile();
    if ((lk_invinc & 4) && FLASHES)
        body_attr |= PALETTE_WHITE;
    sprite16(lk_y + lk_z, lk_x, tile, body_attr);
    if (air)
        sprite16(lk_y, lk_x, SPR_SHADOW, 4);
}
