/* Losing all hearts: fall over, GAME OVER, and back to the last way in. */
#include "game.h"

#define WAIT_FRAMES 180

static void fall_over(void) {
    uint8_t i;

    for (i = 0; i < 32; i++) {
        lk_direction = (i >> 2) & 3;
        lk_invinc = 0;
        scene_draw();
        frame();
    }
}

static void count_death(void) {
    uint8_t *d = (uint8_t *)&wDeathCounter;

    if ((++d[0] & 0x0F) == 0x0A) d[0] += 6;
    if (d[0] == 0xA0) {
        d[0] = 0;
        if ((++d[1] & 0x0F) == 0x0A) d[1] += 6;
    }
}

/* A or START goes on; it also goes on by itself. */
static void game_over_screen(void) {
    uint8_t i;

    wGameOverScreenTrigger = 1;
    sprite_begin();
    sprite_end();
    clear_rows(2, 18);
    put_text(7, 5, "GAME OVER");
    put_text(10, 2, "The valley waits.");
    put_text(13, 4, "A: continue");
    fade_in();
    for (i = 0; i < WAIT_FRAMES; i++) {
        frame();
        if (wKeysJustPressed & (KEY_A | KEY_START))
            break;
    }
}

void player_die(void) {
    uint8_t *d = wDeathRespawnBuffer;

    wLinkDeathTrigger = 0xFF;
    lk_state = LINK_DYING;
    lk_collision = 0;
    lk_animMode = 0x02;
    carry_drop();
    hud_update();
    music_play(TUNE_NONE);
    sfx(SFX_DEATH);
    fall_over();
    wLinkDeathTrigger = 0xE7;
    fade_out();
    game_over_screen();
    count_death();
    wLinkHealth = wLinkMaxHealth;
    lk_direction = DIR_DOWN;
    wLinkDeathTrigger = 0;
    wRoomStateModifier = d[2]; /* in another season there might be no way on from there */
    room_warp(d[0], d[1], (d[4] & 0xF0) | (d[5] >> 4));
    wGameOverScreenTrigger = 0;
    wKeysJustPressed = 0;
}
