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

/*
 * Edge scroll: the new room is drawn over the old one line by line, from the
 * edge that was crossed, while the player stands still on its rim.
 */
void room_scroll(uint8_t dir) {
    uint8_t i, j;

    wScrollMode = 4;
    wScreenTransitionState = 3;
    wScreenTransitionDirection = dir;
    wCutsceneIndex = 0;
    room_load(wActiveGroup, room_neighbour(dir));
    wScrollMode = 8;
    wScreenTransitionState = 5;
    wGashaMaturity += 5;

    switch (dir) {
    case DIR_UP:    lk_y = 0x79; break;
    case DIR_DOWN:  lk_y = 0x06; break;
    case DIR_LEFT:  lk_x = 0x9A; break;
    default:        lk_x = 0x06; break;
    }
    sprite_begin();
    player_draw();
    sprite_end();

    if (dir & 1) {
        for (i = 0; i < 10; i++) {
            wScreenScrollCounter = 10 - i;
            for (j = 0; j < 8; j++)
                room_draw_cell((uint8_t)(j << 4) | (dir == DIR_RIGHT ? i : 9 - i));
            frame();
        }
    } else {
        for (i = 0; i < 8; i++) {
            wScreenScrollCounter = 8 - i;
            j = dir == DIR_DOWN ? i : 7 - i;
            room_draw_rows(j, j + 1);
            frame();
        }
    }
    wScreenScrollCounter = 0;
    hud_redraw();
    scene_draw();
    frame();
    wScrollMode = 1;
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
    fade_out();
    wCutsceneIndex = 0;
    wScrollMode = 2;
    if (group != wActiveGroup) {
        wSwitchState = wToggleBlocksState = 0;
        remember_respawn(group, id, pos);
    }
    room_load(group, id);
    lk_y = PIXEL_Y(pos);
    lk_x = PIXEL_X(pos);
    lk_invinc = 0;
    lk_knockback = 0;
    hud_redraw();
    room_draw();
    scene_draw();
    fade_in();
    wWarpTransition2 = 0;
    wScrollMode = 1;
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
    fade_out();
    wRoomStateModifier = season;
    wCutsceneIndex = 0;
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
