/* Text numbers, in the order of data/texts.c. */
#ifndef TEXTS_H
#define TEXTS_H

enum {
    TEXT_NONE,
    /* people */
    TEXT_GIFT,
    TEXT_GRANNY_AFTER,
    TEXT_GRANNY_END,
    TEXT_CHILD,
    TEXT_CHILD_SWORD,
    TEXT_CHILD_FEATHER,
    TEXT_CHILD_END,
    TEXT_FARMER,
    TEXT_FARMER_AFTER,
    TEXT_GIRL,
    TEXT_GIRL_AFTER,
    TEXT_KEEPER,
    TEXT_KEEPER_AFTER,
    TEXT_ELDER,
    TEXT_ELDER_BOMBS,
    TEXT_ELDER_STONES,
    TEXT_ELDER_ROD,
    TEXT_ELDER_POND,
    TEXT_ELDER_SEEDS,
    TEXT_ELDER_LAKE,
    TEXT_ELDER_KEY,
    TEXT_ELDER_END,
    TEXT_SPIRIT,
    /* signs */
    TEXT_SIGN_VILLAGE,
    TEXT_SIGN_LANE,
    TEXT_SIGN_POND,
    TEXT_SIGN_VINES,
    TEXT_SIGN_QUARRY,
    TEXT_SIGN_BLOSSOM,
    TEXT_SIGN_LAKE,
    TEXT_SIGN_CAVE,
    TEXT_STATUE,
    TEXT_WALL,
    /* shop: the question, at most three lines; Yes and No come below it */
    TEXT_BUY_SHIELD,
    TEXT_BUY_BOMBS,
    TEXT_BUY_SEEDS,
    TEXT_POOR,
    /* treasures */
    TEXT_GOT_SWORD,
    TEXT_GOT_SHIELD,
    TEXT_GOT_BOMBS,
    TEXT_GOT_ROD,
    TEXT_GOT_SHOVEL,
    TEXT_GOT_BRACELET,
    TEXT_GOT_FEATHER,
    TEXT_GOT_SATCHEL,
    TEXT_GOT_FLIPPERS,
    TEXT_GOT_PIECE,
    TEXT_GOT_CONTAINER,
    TEXT_KEY,
    TEXT_GOT_BOSS_KEY,
    TEXT_GOT_COMPASS,
    TEXT_GOT_MAP,
    TEXT_GOT_GNARLED,
    TEXT_ESSENCE,
    /* things */
    TEXT_LOCKED,
    TEXT_CHEST_SIDE,
    TEXT_BOSS_DOOR, /* the boss door without its key */
    TEXT_KEYHOLE,   /* the cave door without the gnarled key */
    TEXT_HEAVY,     /* something to lift, without the bracelet */
    TEXT_TURN,      /* the stump, without the rod */
};

extern const char *const texts[];

#endif
