/* One frame of time: the only place where the game waits. */
#include "game.h"

uint8_t keys_seen; /* every press since a caller last cleared it */

void frame(void) {
    uint8_t keys;

    frame_sync();
    motions_frame();

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
        wPlaytimeCounter++;
        wFrameCounter = *(uint8_t *)&wPlaytimeCounter;
    }
}

void wait_frames(uint8_t n) {
    while (n--)
        frame();
}
