/* The end of the story. Play goes on in the village afterwards. */
#include "game.h"

#define WAIT_FRAMES 240

static void last_screen(void) {
    uint8_t i;

    sprite_begin();
    sprite_end();
    clear_rows(0, 18);
    put_text(5, 3, "The Sun Seed is");
    put_text(7, 3, "home. The vale");
    put_text(9, 3, "blooms again.");
    put_text(13, 6, "THE END");
    sprite_begin();
    sprite16(0x68, 0x50, SPR_SEED, 7);
    sprite_end();
    fade_in();
    for (i = 0; i < WAIT_FRAMES; i++) {
        frame();
        if (wKeysJustPressed & (KEY_A | KEY_START))
            break;
    }
}

void ending_run(void) {
    wDisabledObjects = 0x81;
    wCutsceneIndex = 0x0A;
    wGlobalFlags[5] |= 0x01; /* finished */
    wFileIsCompleted = 1;
    wLinkHealth = wLinkMaxHealth;
    wRoomStateModifier = SPRING;
    fade_out();
    last_screen();
    wDisabledObjects = 0;
    wKeysJustPressed = 0;
    lk_direction = DIR_DOWN;
    room_warp(START_GROUP, START_ROOM, START_POS);
}
