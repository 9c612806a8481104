/* Leaving a room: over an edge, or through a door. */
#include "game.h"

static void new_room_state(void) {
    wLinkLocalRespawnY = lk_y;
    wLinkLocalRespawnX = lk_x;
    player_walls();
    player_tile();
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
    frame();
    wScrollMode = 1;
    wScreenTransitionState = 2;
    wCutsceneIndex = 1;
    new_room_state();
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
    room_load(group, id);
    lk_y = (pos & 0xF0) + 8;
    lk_x = (uint8_t)(pos << 4) + 8;
    lk_invinc = 0;
    lk_knockback = 0;
    swing = 0;
    hud_redraw();
    room_draw();
    scene_draw();
    fade_in();
    wWarpTransition2 = 0;
    wScrollMode = 1;
    wCutsceneIndex = 1;
    wEnteredWarpPosition = 0xFF;
    new_room_state();
}
