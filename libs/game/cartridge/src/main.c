/* A new file, and the loop that plays it. */
#include "game.h"

static void set_string(char *to, const char *s) {
    while (*s)
        *to++ = *s++;
}

/*
 * The state a story starts from. The intro flags are set because our story
 * has no intro of its own.
 */
static void new_file(void) {
    set_string(wSavefileString, "Z11216-0");
    set_string(wLinkName, "Pip");
    wGlobalFlags[1] |= 0x04;
    wGlobalFlags[4] |= 0x02;
    wGlobalFlags[5] |= 0x04;
    wLinkMaxHealth = wLinkHealth = 12;
    lifted_sprite = 0xFF;
    wShieldLevel = 1;
    wMaxBombs = 0x10;
    wActiveRing = 0xFF;
    wDisplayedMoneyAddress = 0xA5;
    wDeathRespawnBuffer[0] = START_GROUP;
    wDeathRespawnBuffer[1] = START_ROOM;
    wDeathRespawnBuffer[3] = DIR_DOWN;
    wDeathRespawnBuffer[4] = PIXEL_Y(START_POS);
    wDeathRespawnBuffer[5] = PIXEL_X(START_POS);

    lk_enabled = 3;
    lk_id = 0;
    lk_state = LINK_NORMAL;
    lk_speed = 0x28;
    lk_animMode = 0x10;
    lk_collision = 0x80;
    lk_health = 1;
    lk_direction = DIR_DOWN;
    wLinkAngle = lk_angle = 0xFF;
    wLinkObjectIndex = 0xD0;
    wLinkPushingDirection = DIR_NONE;
    wEnteredWarpPosition = 0xFF;
    wRoomWidth = 0x14;
    wRoomHeight = 0x10;
    wScreenTransitionBoundaryX = 0x9A;
    wScreenTransitionBoundaryY = 0x79;
    wRoomEdgeY = 0x80;
    wRoomEdgeX = 0xA0;
    wScreenTransitionState = 2;
}

void scene_draw(void) {
    sprite_begin();
    player_draw();
    sprite_objects();
    objects_draw();
    sprite_end();
}

void main(void) {
    hRng1 = 0x37;
    hRng2 = 0x0D;
    video_init();
#ifdef WORLD
    world_init();
#endif
    sound_init();
    music_play(TUNE_VALE);
    title_run();
    new_file();
    room_index();
    dungeon_layout_init();
    wGameState = 2;
    room_warp(START_GROUP, START_ROOM, START_POS);
    scene_draw();

    for (;;) {
        frame();
        if (wKeysJustPressed & KEY_START) {
            menu_run();
            continue;
        }
        scene_changed = 0;
        player_update();
        objects_update();
        if (puzzle_changed)
            puzzle_check();
        hud_update();
        if (wLinkHealth == 0)
            player_die();
        if (scene_changed)
            scene_draw();
    }
}
