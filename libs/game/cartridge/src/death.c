/* Losing all hearts: fall over, a short message, and back to the start. */
#include "game.h"

void player_die(void) {
    uint8_t i, *d = (uint8_t *)&wDeathCounter;

    wLinkDeathTrigger = 0xFF;
    lk_state = LINK_DYING;
    lk_collision = 0;
    hud_update();
    for (i = 0; i < 32; i++) {
        lk_direction = (i >> 2) & 3;
        lk_invinc = 0;
        scene_draw();
        frame();
    }
    wLinkDeathTrigger = 0xE7;
    fade_out();
    wGameOverScreenTrigger = 1;
    sprite_begin();
    sprite_end();
    frame();
    clear_rows(2, 18);
    put_text(8, 2, "You doze off...");
    put_text(10, 2, "The valley waits.");
    fade_in();
    for (i = 0; i < 60; i++)
        frame();

    if ((++d[0] & 0x0F) == 0x0A) d[0] += 6;
    if (d[0] == 0xA0) {
        d[0] = 0;
        if ((++d[1] & 0x0F) == 0x0A) d[1] += 6;
    }
    wLinkHealth = wLinkMaxHealth;
    lk_direction = DIR_DOWN;
    room_warp(wDeathRespawnBuffer[0], wDeathRespawnBuffer[1], START_POS);
    wGameOverScreenTrigger = 0;
    wLinkDeathTrigger = 0;
    lk_state = LINK_NORMAL;
    lk_collision = 0x80;
}
