/*
 * All rooms. A map is 8 rows of 10 tile characters (art/tiles.txt).
 *
 * Overworld rooms (group 0) lie on a 16x16 grid, id = 0xYX: the room above is
 * id - 0x10, to the right id + 1. Dungeon rooms (group 4) lie on an 8x8 grid,
 * id = y * 8 + x. A room is left over an edge wherever the edge is open and
 * the neighbour exists. Houses (group 3) and caves (group 5) are single rooms.
 */
#include "ram.h"
#include "rooms.h"
#include "art.h"
#include "texts.h"

/* ---- overworld ---------------------------------------------------------- */

static const room_object_t hollow_objects[] = {
    {O_CHEST, 0x31, TREASURE_HEART_PIECE},
    {O_ENEMY, 0x37, ENEMY_CHARGER},
    {O_ENEMY, 0x56, ENEMY_BAT},
    {O_END}};

static const room_object_t vine_objects[] = {
    {O_SIGN, 0x52, TEXT_SIGN_VINES},
    {O_ENEMY, 0x16, ENEMY_SPITTER},
    {O_ENEMY, 0x66, ENEMY_SLIME},
    {O_END}};

static const room_object_t ridge_objects[] = {
    {O_WARP, 0x06, 5, 0xB4, 0x64},
    {O_ENEMY, 0x23, ENEMY_SPITTER},
    {O_ENEMY, 0x45, ENEMY_CHARGER},
    {O_END}};

static const room_object_t gate_objects[] = {
    {O_WARP, 0x14, 4, 0x1C, 0x64},
    {O_SIGN, 0x36, TEXT_SIGN_CAVE},
    {O_ENEMY, 0x43, ENEMY_CHARGER},
    {O_ENEMY, 0x57, ENEMY_SPITTER},
    {O_END}};

static const room_object_t orchard_objects[] = {
    {O_CHEST, 0x14, TREASURE_RUPEES, 0x20},
    {O_ENEMY, 0x37, ENEMY_BEETLE},
    {O_ENEMY, 0x53, ENEMY_SLIME},
    {O_END}};

static const room_object_t pond_objects[] = {
    {O_CHEST, 0x24, TREASURE_SATCHEL, 0x20},
    {O_NPC, 0x55, NPC_GIRL, TEXT_GIRL},
    {O_SIGN, 0x62, TEXT_SIGN_POND},
    {O_ENEMY, 0x52, ENEMY_SLIME},
    {O_END}};

static const room_object_t stair_objects[] = {
    {O_WARP, 0x14, 5, 0xA1, 0x64},
    {O_SIGN, 0x27, TEXT_SIGN_QUARRY},
    {O_ENEMY, 0x57, ENEMY_BEETLE},
    {O_ENEMY, 0x42, ENEMY_SPITTER},
    {O_END}};

static const room_object_t blossom_objects[] = {
    {O_SIGN, 0x62, TEXT_SIGN_BLOSSOM},
    {O_ENEMY, 0x36, ENEMY_CHARGER},
    {O_ENEMY, 0x66, ENEMY_SLIME},
    {O_END}};

static const room_object_t meadow_objects[] = {
    {O_PICKUP, 0x11, DROP_COIN5, ROOMFLAG_ITEM},
    {O_DIG, 0x67, TREASURE_RUPEES, ROOMFLAG_40, 0x05},
    {O_ENEMY, 0x26, ENEMY_SLIME},
    {O_ENEMY, 0x32, ENEMY_BEETLE},
    {O_ENEMY, 0x57, ENEMY_SLIME},
    {O_END}};

static const room_object_t village_objects[] = {
    {O_WARP, 0x32, 3, 0x10, 0x64},
    {O_WARP, 0x37, 3, 0x11, 0x64},
    {O_SIGN, 0x56, TEXT_SIGN_VILLAGE},
    {O_NPC, 0x62, NPC_CHILD, TEXT_CHILD},
    {O_END}};

static const room_object_t field_objects[] = {
    {O_NPC, 0x43, NPC_MAN, TEXT_FARMER},
    {O_DIG, 0x21, TREASURE_RUPEES, 0x01, 0x10},
    {O_DIG, 0x22, TREASURE_RUPEES, 0x02, 0x05},
    {O_DIG, 0x32, TREASURE_HEART_REFILL, 0, 0x04},
    {O_DIG, 0x17, TREASURE_RUPEES, 0x04, 0x10},
    {O_DIG, 0x26, TREASURE_RUPEES, 0, 0x01},
    {O_DIG, 0x28, TREASURE_RUPEES, 0x08, 0x05},
    {O_ENEMY, 0x48, ENEMY_SLIME},
    {O_END}};

static const room_object_t lake_objects[] = {
    {O_SIGN, 0x62, TEXT_SIGN_LAKE},
    {O_PICKUP, 0x11, DROP_COIN5, ROOMFLAG_ITEM},
    {O_ENEMY, 0x51, ENEMY_SLIME},
    {O_END}};

static const room_object_t shrine_objects[] = {
    {O_SCENE, 0x34, TEXT_SPIRIT, TREASURE_ROD, 0x0F},
    {O_END}};

static const room_object_t lane_objects[] = {
    {O_WARP, 0x32, 3, 0x12, 0x64},
    {O_SIGN, 0x53, TEXT_SIGN_LANE},
    {O_DIG, 0x68, TREASURE_HEART_PIECE, ROOMFLAG_40},
    {O_ENEMY, 0x66, ENEMY_SLIME},
    {O_END}};

static const room_object_t dry_objects[] = {
    {O_WARP, 0x15, 5, 0xC7, 0x64},
    {O_PICKUP, 0x38, DROP_COIN5, ROOMFLAG_ITEM},
    {O_ENEMY, 0x47, ENEMY_CHARGER},
    {O_ENEMY, 0x62, ENEMY_BEETLE},
    {O_END}};

static const room_object_t isle_objects[] = {
    {O_CHEST, 0x34, TREASURE_GNARLED_KEY},
    {O_DIG, 0x53, TREASURE_HEART_PIECE, ROOMFLAG_40},
    {O_ENEMY, 0x46, ENEMY_BEETLE},
    {O_END}};

/* ---- houses --------------------------------------------------------------- */

static const room_object_t house_objects[] = {
    {O_NPC, 0x25, NPC_GRANNY, TEXT_GIFT},
    {O_WARP, 0x74, 0, 0x77, 0x42},
    {O_WARP, 0x75, 0, 0x77, 0x42},
    {O_END}};

static const room_object_t shop_objects[] = {
    {O_NPC, 0x24, NPC_KEEPER, TEXT_KEEPER},
    {O_SHOP, 0x33, TREASURE_SHIELD, 0x20, TEXT_BUY_SHIELD},
    {O_IF, 0, W_HAS, TREASURE_SHIELD},
    {O_SHOP, 0x35, TREASURE_BOMBS, 0x15, TEXT_BUY_BOMBS},
    {O_IF, 0, W_HAS, TREASURE_SATCHEL},
    {O_SHOP, 0x36, TREASURE_EMBER_SEEDS, 0x10, TEXT_BUY_SEEDS},
    {O_WARP, 0x74, 0, 0x77, 0x47},
    {O_WARP, 0x75, 0, 0x77, 0x47},
    {O_END}};

static const room_object_t elder_objects[] = {
    {O_NPC, 0x24, NPC_ELDER, TEXT_ELDER},
    {O_WARP, 0x74, 0, 0x87, 0x42},
    {O_WARP, 0x75, 0, 0x87, 0x42},
    {O_END}};

/* ---- caves ---------------------------------------------------------------- */

static const room_object_t quarry_objects[] = {
    {O_CHEST, 0x24, TREASURE_BRACELET, 0, 1},
    {O_SOLVE, 0, C_ENEMIES, E_CHEST},
    {O_ENEMY, 0x31, ENEMY_BAT},
    {O_ENEMY, 0x27, ENEMY_SLIME},
    {O_ENEMY, 0x46, ENEMY_SLIME},
    {O_WARP, 0x74, 0, 0x68, 0x24},
    {O_WARP, 0x75, 0, 0x68, 0x24},
    {O_END}};

static const room_object_t windy_objects[] = {
    {O_CHEST, 0x17, TREASURE_FEATHER},
    {O_TREASURE, 0x31, TREASURE_HEART_PIECE, ROOMFLAG_40},
    {O_ENEMY, 0x47, ENEMY_BAT},
    {O_WARP, 0x74, 0, 0x58, 0x16},
    {O_WARP, 0x75, 0, 0x58, 0x16},
    {O_END}};

static const room_object_t ember_objects[] = {
    {O_CHEST, 0x24, TREASURE_FLIPPERS, 0, 1},
    {O_SOLVE, 0, C_TORCHES, E_CHEST},
    {O_ENEMY, 0x33, ENEMY_BAT},
    {O_ENEMY, 0x36, ENEMY_BAT},
    {O_WARP, 0x74, 0, 0x88, 0x25},
    {O_WARP, 0x75, 0, 0x88, 0x25},
    {O_END}};

/* ---- Root Cave (dungeon 1) -------------------------------------------------- */

static const room_object_t entrance_objects[] = {
    {O_SIGN, 0x23, TEXT_STATUE},
    {O_ENEMY, 0x28, ENEMY_BAT},
    {O_ENEMY, 0x61, ENEMY_SLIME},
    {O_WARP, 0x74, 0, 0x59, 0x24},
    {O_WARP, 0x75, 0, 0x59, 0x24},
    {O_END}};

static const room_object_t button_objects[] = {
    {O_BUTTON, 0x34, 0, 0},
    {O_BUTTON, 0x54, 1, 1},
    {O_SOLVE, 0, C_TRIGGERS, E_CHEST},
    {O_CHEST, 0x14, TREASURE_SMALL_KEY, 1, 1},
    {O_ENEMY, 0x47, ENEMY_BEETLE},
    {O_END}};

static const room_object_t hop_objects[] = {
    {O_LEVER, 0x16, 0},
    {O_CHEST, 0x18, TREASURE_MAP},
    {O_ENEMY, 0x36, ENEMY_BAT},
    {O_ENEMY, 0x62, ENEMY_SLIME},
    {O_END}};

static const room_object_t cross_objects[] = {
    {O_CHEST, 0x15, TREASURE_COMPASS, 0, 1},
    {O_SOLVE, 0, C_ENEMIES, E_CHEST},
    {O_ENEMY, 0x33, ENEMY_SPITTER},
    {O_ENEMY, 0x46, ENEMY_CHARGER},
    {O_END}};

static const room_object_t torch_objects[] = {
    {O_SOLVE, 0x34, C_TORCHES, E_KEY},
    {O_ENEMY, 0x26, ENEMY_CHARGER},
    {O_ENEMY, 0x54, ENEMY_SLIME},
    {O_END}};

static const room_object_t vault_objects[] = {
    {O_CHEST, 0x13, TREASURE_BOSS_KEY},
    {O_SIGN, 0x32, TEXT_WALL},
    {O_ENEMY, 0x27, ENEMY_SPITTER},
    {O_ENEMY, 0x56, ENEMY_SPITTER},
    {O_END}};

static const room_object_t den_objects[] = {
    {O_BOSS, 0x24, ENEMY_BOSS},
    {O_SOLVE, 0, C_ENEMIES, E_SHUTTERS},
    {O_END}};

static const room_object_t seed_objects[] = {
    {O_ESSENCE, 0x14},
    {O_END}};

const room_t rooms[] = {
    {0, 0x56, "Frost Hollow",
     "pppppppppp"
     "pcccccccpp"
     "pCCCCCCCCp"
     "p$.j..,..p"
     "p..j.p.*.p"
     "p*.j,....p"
     "pppp.....p"
     "pppppp..pp", hollow_objects},
    {0, 0x57, "Vine Cliff",
     "cccccccccc"
     "c.*..,.*.."
     "c.,......."
     "CCCVVCCCCC"
     "CCCVVCCCCC"
     "R.S::...RT"
     "p*..::::,T"
     "ppppppp::T", vine_objects},
    {0, 0x58, "Windy Ridge",
     "CCCCCCMCCC"
     "..*...:..c"
     "...,..:,.c"
     "c.R...::Rc"
     "c.,.*.,..c"
     "cR..R...,c"
     "CCCCCCCCCC"
     "CCCCCCCCCC", ridge_objects},
    {0, 0x59, "Root Gate",
     "CCCCCCCCCC"
     "CCCCKCCCCC"
     "C1..:..1CC"
     "p.,.:.S*.p"
     "pR..::..Rp"
     "p.*..::.,p"
     "p,..::.*.p"
     "pppp::pppp", gate_objects},
    {0, 0x66, "Old Orchard",
     "TTTTTT..TT"
     "T.*T$Tll,T"
     "T,.T.T..BT"
     "T...B....T"
     "T.B......."
     "TB..,..*.."
     "T.....*,.T"
     "TT..TTTTTT", orchard_objects},
    {0, 0x67, "Mirror Pond",
     "TTTTTTT::T"
     "TWWWWWW::T"
     "Twww$ww::T"
     "Twww.ww:,T"
     "..wwwww::T"
     "..*....::T"
     "T,Su..::*T"
     "TTTT::TTTT", pond_objects},
    {0, 0x68, "Stone Stair",
     "CCCCCCCCCC"
     "CCCCZCCCCC"
     "R.*.::.S,R"
     "R...::...."
     "T.,.::::::"
     "T,*.::..BT"
     "TB..::.R,T"
     "TTTT::TTTT", stair_objects},
    {0, 0x69, "Blossom Way",
     "TTTT::TTTT"
     "T*.TYYT.*T"
     "T,.T::T..T"
     "..:.::...T"
     ".::::::u.T"
     "T.*..:.*.T"
     "T,S...,.*T"
     "TTTTTTTTTT", blossom_objects},
    {0, 0x76, "West Meadow",
     "TT..TTTTTT"
     "T....,..,T"
     "T.*..B..*T"
     "T..,.BB..T"
     "T....B...."
     "T.*B,....."
     "T,.B.*.~.T"
     "TTTTTTTTTT", meadow_objects},
    {0, 0x77, "Seedling",
     "TTTT::TTTT"
     "T[^]BB(!)T"
     "T[^]::(!)T"
     "THDH::HDGT"
     ".B::::::B."
     ".B.U::S:B."
     "T*.,.::.*T"
     "TTTTT::TTT", village_objects},
    {0, 0x78, "East Field",
     "TTTT::TTTT"
     "T===::.~.T"
     "T~~=::~.~T"
     "T.~=::.,.T"
     "..:.::...."
     ".::::::::."
     "T.u.,.B,.T"
     "TTTTTTTTTT", field_objects},
    {0, 0x79, "Reed Lake",
     "TTTTTTTTTT"
     "T.|WWWWW|T"
     "T,|ddddd|T"
     "T.*dddddWT"
     "...ddddddT"
     "..:ddddddT"
     "T*S|ddd||T"
     "TTT|ddd|TT", lake_objects},
    {0, 0x86, "Mossy Wood",
     "TTTTTTTTTT"
     "Tp1....1pT"
     "Tp,.::.*pT"
     "T...::.,.T"
     "T.1.::1..."
     "T..u::::::"
     "Tp*.,..*pT"
     "TTTTTTTTTT", shrine_objects},
    {0, 0x87, "South Lane",
     "TTTTT::TTT"
     "T[^^].::.T"
     "T[^^]*::*T"
     "THDOH.::.T"
     ".o:::::.m."
     ".o:S::u.m."
     "T*,.,..,~T"
     "TTTTTTTTTT", lane_objects},
    {0, 0x88, "Dry Hollow",
     "TTTTTTTTTT"
     "CCCCCMCCCC"
     "TR.yyyy.RT"
     "T.,..y...T"
     "..:....,.T"
     ".:::..R..T"
     "TR.,..*.RT"
     "TTTTTTTTTT", dry_objects},
    {0, 0x89, "Lake Isle",
     "TTT|ddd|TT"
     "T|ddddddd|"
     "Tdd....ddT"
     "Td.,$.*.dT"
     "Td..:...dT"
     "Tdd~..,ddT"
     "T|ddddddd|"
     "TTTTTTTTTT", isle_objects},

    {3, 0x10, "Fern's House",
     "IIIIIIIIII"
     "IiFfiiffiI"
     "I--------I"
     "Ib--rr--tI"
     "I---rr---I"
     "It------JI"
     "Ig-------I"
     "IIIIxxIIII", house_objects},
    {3, 0x11, "Nut Shop",
     "IIIIIIIIII"
     "IiffiiffiI"
     "IJ------JI"
     "I-nnnnn--I"
     "I--------I"
     "I---rr---I"
     "Ig------gI"
     "IIIIxxIIII", shop_objects},
    {3, 0x12, "Sorrel's Hut",
     "IIIIIIIIII"
     "IiffiiFfiI"
     "IJ------bI"
     "I---rr---I"
     "It--rr--tI"
     "I--------I"
     "Ig------JI"
     "IIIIxxIIII", elder_objects},

    {5, 0xA1, "Quarry Cave",
     "@@@@@@@@@@"
     "@R''''''R@"
     "@''''''''@"
     "@'@''''@'@"
     "@''''''''@"
     "@@''''''@@"
     "@@@''''@@@"
     "@@@@EE@@@@", quarry_objects},
    {5, 0xB4, "Windy Cave",
     "@@@@@@@@@@"
     "@R'0'''$'@"
     "@''0'''''@"
     "@''0''@@'@"
     "@''0'''''@"
     "@R'0''''R@"
     "@@@@'''@@@"
     "@@@@EE@@@@", windy_objects},
    {5, 0xC7, "Ember Cave",
     "@@@@@@@@@@"
     "@e''''''e@"
     "@'@''''@'@"
     "@''''''''@"
     "@'@''''@'@"
     "@e''''''e@"
     "@@@''''@@@"
     "@@@@EE@@@@", ember_objects},

    {4, 0x04, "Seed Hall",
     "#NNNNNNNN#"
     "#L__aa__L#"
     "#___aa___#"
     "#A__;;__A#"
     "#___;;___#"
     "#A__;;__A#"
     "#___;;___#"
     "####_#####", seed_objects},
    {4, 0x0C, "Gnarl's Den",
     "#NNN6NNNN#"
     "#L______L#"
     "#________#"
     "#________#"
     "#________#"
     "#________#"
     "#L______L#"
     "####_#####", den_objects},
    {4, 0x13, "Torch Hall",
     "#NNNNNNNN#"
     "#e_9__9_e#"
     "#________#"
     "#__%__%___"
     "#_________"
     "#__%__%__#"
     "#e_9__9_e#"
     "##########", torch_objects},
    {4, 0x14, "Cross Hall",
     "#NNN7NNNN#"
     "#A_L__L_A#"
     "##______##"
     "_X_______k"
     "_X_______#"
     "##______##"
     "#A_L__L_A#"
     "####_#####", cross_objects},
    {4, 0x15, "Stone Vault",
     "#NNNNNNNN#"
     "#9N$_N_99#"
     "#_N__N__9#"
     "__AN8N___#"
     "#________#"
     "#_%____%_#"
     "#L______L#"
     "##########", vault_objects},
    {4, 0x1B, "Button Room",
     "#NNNNNNNN#"
     "#L______L#"
     "#_%___%__#"
     "#__P&_____"
     "#_________"
     "#_%_&_%__#"
     "#L_____99#"
     "##########", button_objects},
    {4, 0x1C, "Root Cave",
     "#NNNkNNNN#"
     "#L______L#"
     "#_%A__A%_#"
     "__________"
     "__________"
     "#_%A__A%_#"
     "#________#"
     "####EE####", entrance_objects},
    {4, 0x1D, "Hop Hall",
     "#NNNNNNNN#"
     "#___0_q0$#"
     "#___0__0_#"
     "____0__0_#"
     "____0__0_#"
     "#___0__0_#"
     "#L__0__0L#"
     "##########", hop_objects},
};

const uint8_t room_count = sizeof(rooms) / sizeof(rooms[0]);

/* ---- seasons ---------------------------------------------------------------- */

const season_tile_t season_tiles[] = {
    {TILE_WATER, {TILE_WATER, TILE_WATER, TILE_WATER, TILE_ICE}},
    {TILE_SHORE, {TILE_SHORE, TILE_SHORE, TILE_SHORE, TILE_ICE_SHORE}},
    {TILE_VINE_DRY, {TILE_VINE_DRY, TILE_VINE, TILE_VINE_DRY, TILE_VINE_DRY}},
    {TILE_BUD, {TILE_BLOSSOM, TILE_BUD, TILE_BUD, TILE_BUD}},
    {TILE_PIT, {TILE_PIT, TILE_PIT, TILE_LEAVES, TILE_PIT}},
    {TILE_TOADSTOOL, {TILE_TOADSTOOL, TILE_TOADSTOOL, TILE_MUSHROOM, TILE_TOADSTOOL}},
    {TILE_THICKET, {TILE_THICKET, TILE_THICKET, TILE_THICKET, TILE_DRIFT}},
    {TILE_FLOWERS, {TILE_FLOWERS, TILE_FLOWERS, TILE_LEAVES, TILE_GRASS}},
    {0}};

/* ---- people ------------------------------------------------------------------ */

const talk_rule_t talk_rules[] = {
    {TEXT_GIFT, W_ESSENCE, 0, TEXT_GRANNY_END},
    {TEXT_GIFT, W_HAS, TREASURE_SWORD, TEXT_GRANNY_AFTER},
    {TEXT_CHILD, W_ESSENCE, 0, TEXT_CHILD_END},
    {TEXT_CHILD, W_HAS, TREASURE_FEATHER, TEXT_CHILD_FEATHER},
    {TEXT_CHILD, W_HAS, TREASURE_SWORD, TEXT_CHILD_SWORD},
    {TEXT_FARMER, W_HAS, TREASURE_SHOVEL, TEXT_FARMER_AFTER},
    {TEXT_GIRL, W_HAS, TREASURE_SATCHEL, TEXT_GIRL_AFTER},
    {TEXT_KEEPER, W_HAS, TREASURE_SHIELD, TEXT_KEEPER_AFTER},
    {TEXT_ELDER, W_ESSENCE, 0, TEXT_ELDER_END},
    {TEXT_ELDER, W_HAS, TREASURE_GNARLED_KEY, TEXT_ELDER_KEY},
    {TEXT_ELDER, W_HAS, TREASURE_FLIPPERS, TEXT_ELDER_LAKE},
    {TEXT_ELDER, W_HAS, TREASURE_SATCHEL, TEXT_ELDER_SEEDS},
    {TEXT_ELDER, W_HAS, TREASURE_FEATHER, TEXT_ELDER_POND},
    {TEXT_ELDER, W_HAS, TREASURE_ROD, TEXT_ELDER_ROD},
    {TEXT_ELDER, W_HAS, TREASURE_BRACELET, TEXT_ELDER_STONES},
    {TEXT_ELDER, W_HAS, TREASURE_BOMBS, TEXT_ELDER_BOMBS},
    {0}};

const gift_t gifts[] = {
    {TEXT_GIFT, TREASURE_SWORD, 1},
    {TEXT_FARMER, TREASURE_SHOVEL, 0},
    {0}};

const treasure_text_t treasure_texts[] = {
    {TREASURE_SWORD, TEXT_GOT_SWORD},
    {TREASURE_SHIELD, TEXT_GOT_SHIELD},
    {TREASURE_BOMBS, TEXT_GOT_BOMBS},
    {TREASURE_ROD, TEXT_GOT_ROD},
    {TREASURE_SHOVEL, TEXT_GOT_SHOVEL},
    {TREASURE_BRACELET, TEXT_GOT_BRACELET},
    {TREASURE_FEATHER, TEXT_GOT_FEATHER},
    {TREASURE_SATCHEL, TEXT_GOT_SATCHEL},
    {TREASURE_FLIPPERS, TEXT_GOT_FLIPPERS},
    {TREASURE_HEART_PIECE, TEXT_GOT_PIECE},
    {TREASURE_CONTAINER, TEXT_GOT_CONTAINER},
    {TREASURE_SMALL_KEY, TEXT_KEY},
    {TREASURE_BOSS_KEY, TEXT_GOT_BOSS_KEY},
    {TREASURE_COMPASS, TEXT_GOT_COMPASS},
    {TREASURE_MAP, TEXT_GOT_MAP},
    {TREASURE_GNARLED_KEY, TEXT_GOT_GNARLED},
    {TREASURE_ESSENCE, TEXT_ESSENCE},
    {0}};

/* The title picture fills the screen: 9 rows. */
const char title_map[] =
    "TTTTTTTTTT"
    "Tp*....,pT"
    "T.,......T"
    "pB.*..*.Bp"
    "Tp.....,pT"
    "T*..::.,*T"
    "Tp.::,.BTT"
    "W.::B*.WWW"
    "w.::..Wwww";
