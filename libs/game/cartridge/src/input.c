/* One frame of time: the only place where the game waits. */
#include "game.h"

uint8_t keys_seen; /* every press since a caller last cleared it */

void frame(void) {
    uint8_t keys, *clock;

    frame_sync();
    if (!(++motion_clock & 15) && motions)
        motions_step();
    if (music_wait && --music_wait == 0)
        music_step();
    if (sfx_wait && --sfx_wait == 0)
        sfx_step();

    /* Each half of the pad needs a moment to settle on real hardware. */
    rP1 = 0x20;
    keys = rP1;
    keys = rP1;
    keys = (uint8_t)(keys << 4);
    rP1 = 0x10;
    keys |= rP1 & 0x0F;
    keys |= rP1 & 0x0F;
    rP1 = 0x30;
    keys = ~keys;

    wKeysJustPressed = keys & ~wKeysPressed;
    keys_seen |= wKeysJustPressed;
    wKeysPressed = keys;
    wGameKeysPressed = keys;
    if (wGameState == 2) {
        clock = (uint8_t *)&wPlaytimeCounter; /* four bytes, which seldom all change */
        if (++clock[0] == 0 && ++clock[1] == 0 && ++clock[2] == 0)
            ++clock[3];
        wFrameCounter = clock[0];
    }
}

void wait_frames(uint8_t n) {
    while (n--)
        frame();
}
