/* All rooms of the second cartridge: see its README.md, and data/rooms.h of the first. */
#include "ram.h"
#include "rooms.h"
#include "art.h"
#include "texts.h"

/* ---- overworld ---------------------------------------------------------- */

static const room_object_t yard_objects[] = {
    {O_SIGN, 0x33, TEXT_SIGN_YARD},
    {O_END}};

static const room_object_t garden_objects[] = {
    {O_CHEST, 0x14, TREASURE_SWORD, 1},
    {O_END}};

static const room_object_t gate_objects[] = {
    {O_WARP, 0x14, 4, 0x22, 0x64},
    {O_ENEMY, 0x32, ENEMY_SLIME},
    {O_END}};

/* ---- cave (dungeon 1) ----------------------------------------------------- */

static const room_object_t hall_objects[] = {
    {O_WARP, 0x74, 0, 0x23, 0x24},
    {O_WARP, 0x75, 0, 0x23, 0x24},
    {O_END}};

static const room_object_t block_objects[] = {
    {O_BUTTON, 0x34, 0, 0},
    {O_SOLVE, 0, C_TRIGGERS, E_CHEST},
    {O_CHEST, 0x16, TREASURE_SMALL_KEY, 1, 1},
    {O_END}};

static const room_object_t store_objects[] = {
    {O_CHEST, 0x17, TREASURE_RUPEES, 0x10},
    {O_ENEMY, 0x36, ENEMY_BAT},
    {O_END}};

static const room_object_t guard_objects[] = {
    {O_ENEMY, 0x26, ENEMY_SLIME},
    {O_ENEMY, 0x32, ENEMY_SLIME},
    {O_SOLVE, 0, C_ENEMIES, E_SHUTTERS},
    {O_END}};

static const room_object_t end_objects[] = {
    {O_ESSENCE, 0x14},
    {O_END}};

const room_t rooms[] = {
    {0, 0x23, "Gate",
     "CCCCCCCCCC"
     "CCCCMCCCCC"
     "T...::...T"
     "T.*.::.,.T"
     "T...::...T"
     "T.,.::.*.T"
     "T...::...T"
     "TTTT::TTTT", gate_objects},
    {0, 0x33, "Yard",
     "TTTT::TTTT"
     "TTTTBBTTTT"
     "T..,..,..T"
     "T..S......"
     "T....:...."
     "T.*..:..*T"
     "T........T"
     "TTTTTTTTTT", yard_objects},
    {0, 0x34, "Garden",
     "TTTTTTTTTT"
     "T..,$...*T"
     "T........T"
     ".........T"
     ".....,...T"
     "T.*......T"
     "T.......,T"
     "TTTTTTTTTT", garden_objects},

    {4, 0x12, "End",
     "#NNNNNNNN#"
     "#L__aa__L#"
     "#___aa___#"
     "#A__;;__A#"
     "#___;;___#"
     "#A__;;__A#"
     "#___;;___#"
     "####_#####", end_objects},
    {4, 0x1A, "Guard",
     "#NNN6NNNN#"
     "#L______L#"
     "#________#"
     "#________#"
     "#________#"
     "#________#"
     "#L______L#"
     "####_#####", guard_objects},
    {4, 0x21, "Block",
     "#NNNNNNNN#"
     "#L______L#"
     "#________#"
     "#__P&_____"
     "#_________"
     "#________#"
     "#L______L#"
     "##########", block_objects},
    {4, 0x22, "Hall",
     "#NNNkNNNN#"
     "#L______L#"
     "#________#"
     "__________"
     "__________"
     "#________#"
     "#________#"
     "####EE####", hall_objects},
    {4, 0x23, "Store",
     "#NNNNNNNN#"
     "#L_____$L#"
     "#________#"
     "_________#"
     "_________#"
     "#________#"
     "#L______L#"
     "##########", store_objects},
};

const uint8_t room_count = sizeof(rooms) / sizeof(rooms[0]);

/* ---- what it leaves out: seasons, people, gifts ------------------------------ */

const season_tile_t season_tiles[] = {{0}};

const talk_rule_t talk_rules[] = {{0}};

const gift_t gifts[] = {{0}};

const treasure_text_t treasure_texts[] = {
    {TREASURE_SWORD, TEXT_GOT_SWORD},
    {TREASURE_SMALL_KEY, TEXT_KEY},
    {TREASURE_ESSENCE, TEXT_ESSENCE},
    {0}};

/* The title picture fills the screen: 9 rows. */
const char title_map[] =
    "TTTTTTTTTT"
    "T........T"
    "T........T"
    "T........T"
    "T........T"
    "T........T"
    "T........T"
    "T........T"
    "TTTTTTTTTT";
