/*
 * All dialog. At most 17 letters a line and 3 lines a page; \n ends a line,
 * \f ends a page. Letters outside art/font.txt come out blank.
 */
#include "texts.h"

const char *const texts[] = {
    "",
    /* GIFT */
    "Pip! The seasons\nhave lost their\nway.\f"
    "Old Gnarl took\nthe Sun Seed down\ninto Root Cave.\f"
    "Take my Briar\nBlade and cut\nyour own road.",
    /* GRANNY_AFTER */
    "The orchard has\na chest, dear.\fAnd do visit\nElder Sorrel on\nSouth Lane.",
    /* GRANNY_END */
    "You brought the\nSun Seed home!\fThe vale will\nbloom again.",
    /* CHILD */
    "My frog says:\nsee Granny Fern,\nthe red roof!",
    /* CHILD_SWORD */
    "My frog says:\nthe blade cuts\nbushes. Croak!",
    /* CHILD_FEATHER */
    "My frog says you\njump like a frog\nnow!",
    /* CHILD_END */
    "My frog says:\nwell done, Pip!",
    /* FARMER */
    "Field's yours to\ndig, I am tired.\fKeep what you\nfind. Here, take\nmy shovel!",
    /* FARMER_AFTER */
    "Soft soil shows\na ring. Dig when\nyou face it.",
    /* GIRL */
    "I lost my seed\nsatchel out on\nthe little isle.\f"
    "If the pond were\nfrozen I could\nwalk to it.",
    /* GIRL_AFTER */
    "Keep the satchel!\nEmber seeds burn\ndry bushes.",
    /* KEEPER */
    "Welcome to the\nNut Shop!\fNo shield? Then\nno bombs for you.\nSafety first.",
    /* KEEPER_AFTER */
    "Bombs crack open\nweak cliffs. Put\none and run!",
    /* ELDER */
    "I am Sorrel. The\nnorth cliff has a\ncracked wall.\f"
    "Bombs would open\nit. The shop has\nsome.",
    /* ELDER_BOMBS */
    "North of the east\nfield a wall is\ncracked. Boom!",
    /* ELDER_STONES */
    "That bracelet!\nLift the stones\nwest of my hut.\fThe spirit waits\nin Mossy Wood.",
    /* ELDER_ROD */
    "Swing the rod at\na stump. Summer\nvines climb high.\f"
    "North of Mirror\nPond, look up.",
    /* ELDER_POND */
    "In winter you may\nwalk on Mirror\nPond.",
    /* ELDER_SEEDS */
    "In autumn big\ntoadstools grow\nlight. Go east.\f"
    "Burn the hollow\nopen, then light\nfour torches.",
    /* ELDER_LAKE */
    "Flippers! An isle\nlies south in the\nReed Lake.",
    /* ELDER_KEY */
    "The gnarled key!\nBuds of Blossom\nWay open in\fspring. Root Cave\nlies beyond.",
    /* ELDER_END */
    "Four seasons turn\nagain. Thank you,\nPip.",
    /* SPIRIT */
    "I am the Wind of\nSeasons, small\none.\f"
    "My rod obeys your\nhand now. It will\nturn the year.",
    /* SIGN_VILLAGE */
    "Seedling Village\fNorth: the pond\nEast: the fields\nWest: meadow",
    /* SIGN_LANE */
    "South Lane\fWest: Mossy Wood\nEast: Dry Hollow",
    /* SIGN_POND */
    "Mirror Pond\fThin in spring,\nthick in winter.",
    /* SIGN_VINES */
    "Vine Cliff\fGreen in summer,\nstrong as rope.",
    /* SIGN_QUARRY */
    "Old quarry.\nClosed! Weak\nwall.",
    /* SIGN_BLOSSOM */
    "Blossom Way\fThe buds open in\nspring alone.",
    /* SIGN_LAKE */
    "Reed Lake\nDeep water!",
    /* SIGN_CAVE */
    "Root Cave\fOne gnarled key\nfits this door.",
    /* STATUE */
    "Stone letters:\na block for one,\na foot for one.",
    /* WALL */
    "Stone letters:\nweak stone fears\na loud noise.",
    /* BUY_SHIELD */
    "Wooden shield,\n20 coins?",
    /* BUY_BOMBS */
    "Ten bombs,\n15 coins?",
    /* BUY_SEEDS */
    "Ten ember seeds,\n10 coins?",
    /* POOR */
    "Not enough coins,\nsorry!",
    /* GOT_SWORD */
    "The Briar Blade!\nPress A to swing\nit.",
    /* GOT_SHIELD */
    "A wooden shield!\nIt stops shots\nfrom the front.",
    /* GOT_BOMBS */
    "Bombs! Pick them\nwith START, then\npress a button.",
    /* GOT_ROD */
    "You hold the Rod\nof Seasons! Swing\nit at a stump.",
    /* GOT_SHOVEL */
    "You got a shovel!",
    /* GOT_BRACELET */
    "Power bracelet!\nA lifts stones\nand pots.",
    /* GOT_FEATHER */
    "The Gale Feather!\nHop over a hole.",
    /* GOT_SATCHEL */
    "A seed satchel\nfull of ember\nseeds!",
    /* GOT_FLIPPERS */
    "Frog flippers!\nDeep water is\nopen to you.",
    /* GOT_PIECE */
    "A piece of heart!\nFour make one.",
    /* GOT_CONTAINER */
    "A whole new\nheart!",
    /* KEY */
    "You found a\nsmall key!",
    /* GOT_BOSS_KEY */
    "The thorn key!\nIt fits Gnarl's\ndoor.",
    /* GOT_COMPASS */
    "The compass! Your\nmap shows what is\nstill to be found",
    /* GOT_MAP */
    "You found the map\nof Root Cave!",
    /* GOT_GNARLED */
    "The gnarled key!\nIt smells of old\nroots.",
    /* ESSENCE */
    "You found the\nSun Seed!\fIts warmth runs\nthrough all of\nSeedling Vale.",
    /* LOCKED */
    "It is locked.",
    /* CHEST_SIDE */
    "It only opens\nfrom the front.",
    /* BOSS_DOOR */
    "A thorn lock\nglares at you.",
    /* KEYHOLE */
    "The keyhole looks\nlike a root.",
    /* HEAVY */
    "Far too heavy for\nyour arms.",
    /* TURN */
    "A stump. The wind\nwhispers over it.",
};
