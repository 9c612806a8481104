/* Text numbers, in the order of data/texts.c. */
#ifndef TEXTS_H
#define TEXTS_H

enum {
    TEXT_NONE,
    TEXT_GIFT,
    TEXT_GRANNY_AFTER,
    TEXT_GRANNY_END,
    TEXT_CHILD,
    TEXT_CHILD_END,
    TEXT_SIGN_VILLAGE,
    TEXT_SIGN_POND,
    TEXT_SIGN_CAVE,
    TEXT_KEY,
    TEXT_LOCKED,
    TEXT_ESSENCE,
    TEXT_CHEST_SIDE,
};

extern const char *const texts[];

#endif
