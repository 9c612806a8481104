/*
 * The random generator. It only moves when the game asks for a number, so a
 * run depends on nothing but the buttons.
 */
#include "game.h"

uint8_t rng(void) {
    uint16_t s = ((uint16_t)hRng2 << 8) | hRng1;

    s += s << 1;
    hRng2 = (uint8_t)(s >> 8);
    hRng1 += hRng2;
    return hRng1;
}
