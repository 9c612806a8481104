/* Leaving a room: over an edge, or through a door. */
#include "game.h"

uint8_t arrivals;

static void new_room_state(void) {
    arrivals++;
    wLinkLocalRespawnY = lk_y;
    wLinkLocalRespawnX = lk_x;
    player_walls();
    player_tile();
    terrain_reset();
    puzzle_changed = 1;
    scene_changed = 1;
}

#define STEP 8 /* pixels a frame: a column or row of the background */
#define ROOM_WIDTH  160u
#define ROOM_HEIGHT 128u
#define SECOND_HALF 88 /* pixels left: 12 columns of the map were needed, 9 have been left */

/* From line 16 on the next picture shows the map from a place of its own. */
static void split_at(uint8_t dir, uint8_t done) {
    split_x = dir & 1 ? (dir == DIR_RIGHT ? done : -done) : 0;
    split_y = dir & 1 ? 0 : (dir == DIR_DOWN ? done : -done);
}

static void split_begin(void) {
    rLYC = 15;
    rSTAT = STAT_LYC;
    rIF = 0;
    rIE = INT_VBLANK | INT_STAT;
}

static void split_end(void) {
    rIE = INT_VBLANK;
    rSTAT = 0;
    rSCX = rSCY = 0;
    rLCDC = LCDC_REST;
}

/*
 * The player goes with the old room, and over its edge: in the end he stands on
 * the near rim of the new one, 11 or 12 pixels further on.
 */
static void draw_sprites(uint8_t dir, uint8_t left) {
    uint8_t far = left - (uint8_t)((uint16_t)(left * (dir & 1 ? 18 : 24)) >> 8);

    if (dir == DIR_UP || dir == DIR_LEFT)
        far = -far;
    sprite_begin();
    if (dir & 1)
        sprite_dx = far;
    else
        sprite_dy = far;
    walk_clock++;
    player_draw();
    sprite_dx = sprite_dy = 0;
    sprite_objects();
    objects_draw();
    sprites_scroll(dir, left, STEP);
    sprite_end();
}

/* One picture of the scroll, with so many pixels left to go. */
static void show_step(uint8_t dir, uint8_t left) {
    uint8_t way = dir & 1 ? ROOM_WIDTH : ROOM_HEIGHT;

    wScreenScrollCounter = left / STEP;
    draw_sprites(dir, left);
    split_at(dir, way - left);
    frame();
    rSCX = rSCY = 0;
    rLCDC = LCDC_BAR;
}

static void draw_column(uint8_t column, uint8_t to) {
    uint8_t pos;

    for (pos = column; pos < 0x80; pos += 0x10)
        room_draw_at(pos, ((pos >> 3) & 0x1E) + 2, to & 0x1E);
}

static void draw_row(uint8_t row, uint8_t to) {
    uint8_t i;

    for (i = 0; i < 10; i++)
        room_draw_at((uint8_t)(row << 4) | i, to & 0x1E, i << 1);
}

/*
 * The map is 32 tiles wide, the screen 20: of the new room six cells fit beside
 * the old one at once, the others where the old one has been. Meanwhile the
 * picture at rest is put together, which replaces it all in the end.
 */
static void scroll_across(uint8_t dir) {
    uint8_t base = dir == DIR_RIGHT ? 20 : 12, first = dir == DIR_RIGHT ? 0 : 4;
    uint8_t i, left = ROOM_WIDTH, column = 0;

    for (i = first; i < first + 6; i++)
        draw_column(i, base + i + i);
    bg_changed(2, 18);
    show_step(dir, left);
    split_begin();
    first = dir == DIR_RIGHT ? 6 : 0;
    for (i = first; i < first + 4; i++) {
        draw_column(i, base + i + i);
        left -= STEP;
        show_step(dir, left);
    }
    while (left > STEP) {
        left -= STEP;
        if (left == SECOND_HALF)
            bg_changed(2, 18);
        if (left < SECOND_HALF) {
            draw_column(column, column + column);
            column++;
        }
        show_step(dir, left);
    }
}

/* The map is 32 tiles high, two rooms are: the status bar's rows are needed, too. */
static void scroll_along(uint8_t dir) {
    uint8_t i, left;

    for (i = 0; i < 7; i++)
        draw_row(i, 18 + (uint8_t)(i << 1));
    bg_changed(18, 32);
    show_step(dir, ROOM_HEIGHT);
    split_begin();
    draw_row(7, 0);
    bg_changed(0, 2);
    for (i = 0, left = ROOM_HEIGHT - STEP; left; i++, left -= STEP) {
        show_step(dir, left);
        if (i < 8)
            draw_row(i, 2 + (uint8_t)(i << 1));
    }
    hud_redraw();
}

/*
 * Edge scroll: the old room slides out, the new one in, and the status bar
 * stays. The bar is shown from the other map meanwhile.
 */
void room_scroll(uint8_t dir) {
    uint8_t before, now;

    wScrollMode = SCROLL_EDGE;
    wScreenTransitionState = 3;
    wScreenTransitionDirection = dir;
    wCutsceneIndex = 0;
    sprites_keep();
    before = motions;
    motions = 0;
    room_load(wActiveGroup, room_neighbour(dir));
    now = motions;
    motions |= before; /* both are in sight */
    wScrollMode = SCROLLING;
    wScreenTransitionState = 5;
    wGashaMaturity += 5;

    switch (dir) {
    case DIR_UP:    lk_y = 0x79; break;
    case DIR_DOWN:  lk_y = 0x06; break;
    case DIR_LEFT:  lk_x = 0x9A; break;
    default:        lk_x = 0x06; break;
    }
    if (bg_to)
        frame();
    hud_redraw();
    bg_map = MAP_BAR;
    frame();
    bg_map = MAP_SCREEN;
    if (dir & 1)
        scroll_across(dir);
    else
        scroll_along(dir);
    wScreenScrollCounter = 0;
    bg_changed(0, 18);
    scene_draw();
    frame();
    split_end();
    motions = now;
    wScrollMode = SCROLL_NONE;
    wScreenTransitionState = 2;
    wCutsceneIndex = 1;
    new_room_state();
    scene_check();
}

/* Falling and dying bring the player back to the last way in from another kind of place. */
static void remember_respawn(uint8_t group, uint8_t id, uint8_t pos) {
    if (group == wActiveGroup || group == 3)
        return;
    wDeathRespawnBuffer[0] = group;
    wDeathRespawnBuffer[1] = id;
    wDeathRespawnBuffer[2] = wRoomStateModifier;
    wDeathRespawnBuffer[3] = lk_direction;
    wDeathRespawnBuffer[4] = PIXEL_Y(pos);
    wDeathRespawnBuffer[5] = PIXEL_X(pos);
}

/* Door, cave or respawn: fade to black and back. */
void room_warp(uint8_t group, uint8_t id, uint8_t pos) {
    wWarpDestGroup = group;
    wWarpDestRoom = id;
    wWarpDestPos = pos;
    wWarpTransition2 = 3;
    if (wGameState == 2 && group != wActiveGroup)
        sfx(SFX_DOOR);
    fade_out();
    wCutsceneIndex = 0;
    wScrollMode = SCROLL_ENTERING;
    if (group != wActiveGroup) {
        wSwitchState = wToggleBlocksState = 0;
        remember_respawn(group, id, pos);
    }
    motions = 0;
    room_load(group, id);
    music_of_place();
    lk_y = PIXEL_Y(pos);
    lk_x = PIXEL_X(pos);
    lk_invinc = 0;
    lk_knockback = 0;
    hud_redraw();
    room_draw();
    scene_draw();
    fade_in();
    wWarpTransition2 = 0;
    wScrollMode = SCROLL_NONE;
    wCutsceneIndex = 1;
    wEnteredWarpPosition = 0xFF;
    new_room_state();
    scene_check();
}

/* The rod on a stump: the next season that it knows, on the spot. */
void season_turn(void) {
    uint8_t season = wRoomStateModifier, i;

    for (i = 0; i < 4; i++) {
        season = (season + 1) & 3;
        if (wObtainedSeasons & (1 << season))
            break;
    }
    wDisabledObjects = 0x81;
    sfx(SFX_SEASON);
    fade_out();
    wRoomStateModifier = season;
    wCutsceneIndex = 0;
    motions = 0;
    room_load(wActiveGroup, wActiveRoom);
    wCutsceneIndex = 1;
    room_draw();
    scene_draw();
    fade_in();
    wDisabledObjects = 0;
    player_walls();
    player_tile();
    terrain_step();
    puzzle_changed = 1;
    scene_changed = 1;
}
