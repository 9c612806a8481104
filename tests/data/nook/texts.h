/* Text numbers, in the order of texts.c; from TEXT_POOR on they are the engine's own. */
#ifndef TEXTS_H
#define TEXTS_H

enum {
    TEXT_NONE,
    TEXT_SIGN_YARD,
    TEXT_GOT_SWORD,
    TEXT_KEY,
    TEXT_ESSENCE,
    TEXT_POOR,
    TEXT_LOCKED,
    TEXT_CHEST_SIDE,
    TEXT_BOSS_DOOR,
    TEXT_KEYHOLE,
    TEXT_HEAVY,
    TEXT_TURN,
};

extern const char *const texts[];

#endif
