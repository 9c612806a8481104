/*
 * All dialog. At most 16 letters a line and 3 lines a page; \n ends a line,
 * \f ends a page. Letters outside art/font.txt come out blank.
 */
#include "texts.h"

const char *const texts[] = {
    "",
    /* GIFT */
    "Pip! The valley\nhas gone quiet.\fThe Sun Seed was\ncarried off into\nthe Root Cave.\f"
    "Take my old\nBriar Blade.\nPress A to swing!",
    /* GRANNY_AFTER */
    "Look behind the\nbushes in the\norchard, dear.\fA key sleeps in a\nchest there.",
    /* GRANNY_END */
    "You brought the\nSun Seed home!\fThe vale will\nbloom again.",
    /* CHILD */
    "My frog says the\ncave is locked.\fHe also says the\norchard is west!",
    /* CHILD_END */
    "My frog says:\nwell done, Pip!",
    /* SIGN_VILLAGE */
    "Seedling Village\fNorth: the pond\nWest: the meadow",
    /* SIGN_POND */
    "Mirror Pond\fWest: orchard\nEast: Root Cave",
    /* SIGN_CAVE */
    "Root Cave\fPush the door\nwith a key.",
    /* KEY */
    "You found a\nsmall key!",
    /* LOCKED */
    "It is locked.",
    /* ESSENCE */
    "You found the\nSun Seed!\fIts warmth runs\nthrough all of\nSeedling Vale.",
    /* CHEST_SIDE */
    "It only opens\nfrom the front.",
};
