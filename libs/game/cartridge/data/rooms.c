/*
 * All rooms. A map is 8 rows of 10 tile characters (art/tiles.txt).
 *
 * Overworld rooms (group 0) lie on a 16x16 grid, id = 0xYX: the room above is
 * id - 0x10, to the right id + 1. Cave rooms (group 4) lie on an 8x8 grid,
 * id = y * 8 + x. A room is left over an edge wherever the edge is open and
 * the neighbour exists.
 */
#include "ram.h"
#include "rooms.h"
#include "texts.h"

static const room_object_t orchard_objects[] = {
    {O_CHEST, 0x16, TREASURE_SMALL_KEY},
    {O_ENEMY, 0x37, ENEMY_BEETLE},
    {O_ENEMY, 0x53, ENEMY_SLIME},
    {O_END}};

static const room_object_t pond_objects[] = {
    {O_NPC, 0x57, NPC_CHILD, TEXT_CHILD},
    {O_SIGN, 0x65, TEXT_SIGN_POND},
    {O_PICKUP, 0x18, DROP_COIN, ROOMFLAG_ITEM},
    {O_ENEMY, 0x52, ENEMY_SLIME},
    {O_END}};

static const room_object_t cliff_objects[] = {
    {O_SIGN, 0x27, TEXT_SIGN_CAVE},
    {O_WARP, 0x14, 4, 0x1C, 0x64},
    {O_ENEMY, 0x48, ENEMY_BEETLE},
    {O_END}};

static const room_object_t meadow_objects[] = {
    {O_PICKUP, 0x11, DROP_COIN, ROOMFLAG_ITEM},
    {O_ENEMY, 0x26, ENEMY_SLIME},
    {O_ENEMY, 0x57, ENEMY_SLIME},
    {O_END}};

static const room_object_t village_objects[] = {
    {O_WARP, 0x32, 3, 0x10, 0x64},
    {O_SIGN, 0x55, TEXT_SIGN_VILLAGE},
    {O_END}};

static const room_object_t field_objects[] = {
    {O_PICKUP, 0x63, DROP_COIN5, ROOMFLAG_ITEM},
    {O_PICKUP, 0x18, DROP_HEART, ROOMFLAG_40},
    {O_ENEMY, 0x24, ENEMY_SLIME},
    {O_END}};

static const room_object_t house_objects[] = {
    {O_NPC, 0x25, NPC_GRANNY, TEXT_GIFT},
    {O_WARP, 0x74, 0, 0x65, 0x42},
    {O_WARP, 0x75, 0, 0x65, 0x42},
    {O_END}};

static const room_object_t cave_objects[] = {
    {O_CHEST, 0x18, TREASURE_SMALL_KEY},
    {O_ENEMY, 0x32, ENEMY_BAT},
    {O_ENEMY, 0x36, ENEMY_SLIME},
    {O_WARP, 0x74, 0, 0x56, 0x24},
    {O_WARP, 0x75, 0, 0x56, 0x24},
    {O_END}};

static const room_object_t seed_objects[] = {
    {O_ESSENCE, 0x14},
    {O_ENEMY, 0x46, ENEMY_BAT},
    {O_ENEMY, 0x43, ENEMY_BEETLE},
    {O_END}};

const room_t rooms[] = {
    {0, 0x54, "Old Orchard",
     "TTTTTTTTTT"
     "T.*T,B$B,T"
     "T,.T.BBB.T"
     "T....,...."
     "T.B......."
     "TB..,..*.T"
     "T.....*,.T"
     "TT..TTTTTT", orchard_objects},
    {0, 0x55, "Mirror Pond",
     "TTTTTTTTTT"
     "T.,.*....T"
     "T.WWWWW.,T"
     "..wwwww..."
     "..wwwww..."
     "T.,..,*:.T"
     "T*...S.::T"
     "TTTTTT.::T", pond_objects},
    {0, 0x56, "Stone Stair",
     "cccccccccc"
     "CCCCKCCCCC"
     "R.*.::.S,R"
     ",...::...T"
     "....::.*.T"
     "T,.,::..BT"
     "TB..::.R,T"
     "TTTT::TTTT", cliff_objects},
    {0, 0x64, "West Meadow",
     "TT..TTTTTT"
     "T....,..,T"
     "T.*..R..*T"
     "T..,....,T"
     "T....u...."
     "T.*B,....."
     "T,.B.*.,.T"
     "TTTTTTTTTT", meadow_objects},
    {0, 0x65, "Seedling",
     "TTTTTT.::T"
     "T[^^].*::T"
     "T[^^].,::T"
     "THDOH*.::T"
     "::::::::::"
     ".,.:.S.:.,"
     "T*.,.*B.BT"
     "TTTTTTTTTT", village_objects},
    {0, 0x66, "East Field",
     "TTTT::TTTT"
     "T.B.::.,.T"
     "T...::.*,T"
     "T.R.:,.WWW"
     ":::::..www"
     ",......www"
     "T*B.B,.www"
     "TTTTTTTTTT", field_objects},

    {3, 0x10, "Fern's House",
     "IIIIIIIIII"
     "IiffiiffiI"
     "I--------I"
     "Ib--rr--tI"
     "I---rr---I"
     "It------bI"
     "I--------I"
     "IIIIxxIIII", house_objects},

    {4, 0x1C, "Root Cave",
     "####k#####"
     "#L______$#"
     "#_%____%_#"
     "#________#"
     "#_%_##_%_#"
     "#________#"
     "##______##"
     "####EE####", cave_objects},
    {4, 0x14, "Seed Hall",
     "##########"
     "#L__aa__L#"
     "#___aa___#"
     "#%______%#"
     "#________#"
     "#%______%#"
     "#________#"
     "####_#####", seed_objects},
};

const uint8_t room_count = sizeof(rooms) / sizeof(rooms[0]);

/* The title picture fills the screen: 9 rows. */
const char title_map[] =
    "TTTTTTTTTT"
    "T.*....,*T"
    "T.,......T"
    "TB.*..*.BT"
    "TT.....,TT"
    "T*..::.,*T"
    "TT.::,.BTT"
    "W.::B*.WWW"
    "w.::..Wwww";
