/* All dialog. At most 17 letters a line and 3 lines a page. */
#include "texts.h"

const char *const texts[] = {
    "",
    /* SIGN_YARD */
    "North: the cave.\nMind the hedge.",
    /* GOT_SWORD */
    "A blade!",
    /* KEY */
    "A small key!",
    /* ESSENCE */
    "It glows. You\nhave found it.",
    /* POOR */
    "Not enough coins.",
    /* LOCKED */
    "It is locked.",
    /* CHEST_SIDE */
    "It opens from\nthe front.",
    /* BOSS_DOOR */
    "A great lock.",
    /* KEYHOLE */
    "A keyhole.",
    /* HEAVY */
    "Too heavy.",
    /* TURN */
    "A stump.",
};
