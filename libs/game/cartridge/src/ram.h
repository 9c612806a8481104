/*
 * Every variable whose address is part of the game's public memory map.
 *
 * Outside programs read the game state from these addresses, so they are
 * fixed here by hand; private variables of the C code are placed by the
 * linker between 0xC0A0 and 0xC2ED (checked by build.py).
 */
#ifndef RAM_H
#define RAM_H

#include <stdint.h>

#define M8(a)  (*(uint8_t *)(a))
#define M16(a) (*(uint16_t *)(a))

/* --- private, but placed by hand -------------------------------------- */
#define OAM_SHADOW ((uint8_t *)0xC000) /* 160 bytes, copied by DMA */
#define COLOURS    ((uint8_t *)0xC300) /* 128 bytes on their way to the palettes */
#define TEXT_BUF   ((char *)0xC380)    /* 256 bytes: a text, in a scroll the old room's sprites */
#define BG_TILES   ((uint8_t *)0xA000) /* cartridge RAM: the background map, 32 rows x 32 ... */
#define BG_ATTRS   ((uint8_t *)0xA400) /* ... and its attributes */

/* --- top-level state --------------------------------------------------- */
#define wGameState          M8(0xC2EE)
#define wCutsceneIndex      M8(0xC2EF)
#define wKeysPressed        M8(0xC481)
#define wKeysJustPressed    M8(0xC482)
#define wPaletteThread_mode M8(0xC4AB)

/* --- save-file image 0xC5B0-0xCAFF ------------------------------------- */
#define wSavefileString      ((char *)0xC5B2)
#define wLinkName            ((char *)0xC602)
#define wFileIsCompleted     M8(0xC614)
#define wDeathCounter        M16(0xC61E) /* BCD */
#define wTotalEnemiesKilled  M16(0xC620)
#define wPlaytimeCounter     (*(uint32_t *)0xC622)
#define wTotalRupeesCollected M16(0xC627) /* BCD */
#define wDeathRespawnBuffer  ((uint8_t *)0xC62B)
#define wMinimapGroup        M8(0xC63A)
#define wMinimapRoom         M8(0xC63B)
#define wMinimapDungeonMapPosition M8(0xC63C)
#define wGashaMaturity       M16(0xC65C)
#define wDungeonVisitedFloors ((uint8_t *)0xC662)
#define wDungeonSmallKeys    ((uint8_t *)0xC66E)
#define wDungeonBossKeys     M8(0xC67A) /* bitsets by dungeon index */
#define wDungeonCompasses    M8(0xC67C)
#define wDungeonMaps         M8(0xC67E)
#define wInventoryB          M8(0xC680)
#define wInventoryA          M8(0xC681)
#define wInventoryStorage    ((uint8_t *)0xC682) /* 16 item ids */
#define wObtainedTreasureFlags ((uint8_t *)0xC692)
#define wLinkHealth          M8(0xC6A2)
#define wLinkMaxHealth       M8(0xC6A3)
#define wNumHeartPieces      M8(0xC6A4)
#define wNumRupees           M16(0xC6A5) /* BCD */
#define wShieldLevel         M8(0xC6A9)
#define wNumBombs            M8(0xC6AA) /* BCD */
#define wMaxBombs            M8(0xC6AB) /* BCD */
#define wSwordLevel          M8(0xC6AC)
#define wSeedSatchelLevel    M8(0xC6AE)
#define wObtainedSeasons     M8(0xC6B0) /* bits 0-3; bit 7: the rod itself */
#define wFeatherLevel        M8(0xC6B4)
#define wNumEmberSeeds       M8(0xC6B5) /* BCD */
#define wEssencesObtained    M8(0xC6BB)
#define wActiveRing          M8(0xC6C5)
#define wGlobalFlags         ((uint8_t *)0xC6CA)
#define ROOM_FLAG_PAGES      ((uint8_t *)0xC700)

/* --- text and menus ---------------------------------------------------- */
#define wTextIsActive      M8(0xCBA0)
#define wTextDisplayMode   M8(0xCBA1)
#define wTextIndexL        M8(0xCBA2)
#define wTextIndexH        M8(0xCBA3)
#define wSelectedTextOption M8(0xCBA5)
#define wTextboxPosition   M8(0xCBAC)
#define wOpenedMenuType    M8(0xCBCB)
#define wMenuLoadState     M8(0xCBCC)
#define wMenuActiveState   M8(0xCBCD)
#define wDisplayedHearts   M8(0xCBE4)
#define wDisplayedMoneyAddress M8(0xCBE5)

/* --- play state -------------------------------------------------------- */
#define wFrameCounter        M8(0xCC00)
#define wNumEnemies          M8(0xCC30)
#define wToggleBlocksState   M8(0xCC31)
#define wSwitchState         M8(0xCC32)
#define wLinkDeathTrigger    M8(0xCC34)
#define wGameOverScreenTrigger M8(0xCC35)
#define wLinkLocalRespawnY   M8(0xCC3D)
#define wLinkLocalRespawnX   M8(0xCC3E)
#define wGameKeysPressed     M8(0xCC45)
#define wLinkAngle           M8(0xCC47)
#define wLinkObjectIndex     M8(0xCC48)
#define wActiveGroup         M8(0xCC49)
#define wRoomIsLarge         M8(0xCC4A)
#define wLoadingRoom         M8(0xCC4B)
#define wActiveRoom          M8(0xCC4C)
#define wRoomStateModifier   M8(0xCC4E) /* season */
#define wActiveCollisions    M8(0xCC4F)
#define wTilesetFlags        M8(0xCC50)
#define wDungeonIndex        M8(0xCC55)
#define wDungeonMapPosition  M8(0xCC56)
#define wDungeonFloor        M8(0xCC57)
#define wDungeonFlagsAddressH M8(0xCC59)
#define wDungeonNumFloors    M8(0xCC5C)
#define wWarpDestGroup       M8(0xCC63)
#define wWarpDestRoom        M8(0xCC64)
#define wWarpTransition      M8(0xCC65)
#define wWarpDestPos         M8(0xCC66)
#define wWarpTransition2     M8(0xCC67)
#define wLinkGrabState       M8(0xCC75)
#define wLinkInAir           M8(0xCC77)
#define wLinkSwimmingState   M8(0xCC78)
#define wLinkUsingItem1      M8(0xCC7A)
#define wLinkTurningDisabled M8(0xCC7B)
#define wLinkPushingDirection M8(0xCC80)
#define wPushingAgainstTileCounter M8(0xCC84)
#define wRoomEdgeY           M8(0xCCA0)
#define wRoomEdgeX           M8(0xCCA1)
#define wDisabledObjects     M8(0xCCA4)
#define wEnteredWarpPosition M8(0xCCA8)
#define wNumTorchesLit       M8(0xCCA9)
#define wActiveTilePos       M8(0xCCB3)
#define wActiveTileIndex     M8(0xCCB4)
#define wActiveTileType      M8(0xCCB6)
#define wActiveTriggers      M8(0xCCBA)
#define wBlockPushAngle      M8(0xCCC0)
#define wAButtonList         ((uint16_t *)0xCCCA) /* 16 object pointers */
#define wScrollMode          M8(0xCD00)
#define wScreenTransitionDirection M8(0xCD02)
#define wScreenTransitionState M8(0xCD04)
#define wRoomWidth           M8(0xCD0A)
#define wRoomHeight          M8(0xCD0B)
#define wScreenTransitionBoundaryX M8(0xCD0C)
#define wScreenTransitionBoundaryY M8(0xCD0D)
#define wScreenScrollCounter M8(0xCD13)
#define wRoomCollisions      ((uint8_t *)0xCE00) /* 12 rows x 16 */
#define wRoomLayout          ((uint8_t *)0xCF00) /* 12 rows x 16 */

/* --- HRAM -------------------------------------------------------------- */
#define hRng1 M8(0xFF94)
#define hRng2 M8(0xFF95)

/* --- objects: page 0xDn, four kinds of slot per page -------------------- */
typedef struct {
    uint8_t enabled, id, subid, var03, state, substate, counter1, counter2;
    uint8_t direction, angle, y, yh, x, xh, z, zh;
    uint8_t speed, pad11[3];
    uint16_t speedZ, related1, related2;
    uint8_t visible, pad1b, oamFlags, pad1d[3];
    uint8_t animCounter, animParameter, pad22[2];
    uint8_t collisionType, enemyCollisionMode, radiusY, radiusX;
    uint8_t damage, health, var2a, invincibility;
    uint8_t knockbackAngle, knockback, stun, var2f;
    uint8_t var30, var31, var32, var33;
    uint8_t rest[12];
} object_t;

#define SLOT_INTERACTION(n) ((object_t *)(0xD040 + ((uint16_t)(n) << 8)))
#define SLOT_ENEMY(n)       ((object_t *)(0xD080 + ((uint16_t)(n) << 8)))
#define SLOT_PART(n)        ((object_t *)(0xD0C0 + ((uint16_t)(n) << 8)))
#define NUM_SLOTS 16
#define FIRST_INTERACTION 2 /* slots 0 and 1 are reserved */

/* The player's object, by field (constant addresses compile to short code). */
#define lk_enabled   M8(0xD000)
#define lk_id        M8(0xD001)
#define lk_state     M8(0xD004)
#define lk_substate  M8(0xD005)
#define lk_direction M8(0xD008)
#define lk_angle     M8(0xD009)
#define lk_y         M8(0xD00B)
#define lk_x         M8(0xD00D)
#define lk_z         M8(0xD00F) /* signed: negative is above the ground */
#define lk_speed     M8(0xD010)
#define lk_visible   M8(0xD01A)
#define lk_collision M8(0xD024)
#define lk_health    M8(0xD029) /* not the hearts: stays 1 */
#define lk_invinc    M8(0xD02B)
#define lk_kbAngle   M8(0xD02C)
#define lk_knockback M8(0xD02D)
#define lk_animMode  M8(0xD030)
#define lk_walls     M8(0xD033) /* adjacentWallsBitset */
#define SLOT_WEAPON  ((object_t *)0xD600)
#define SLOT_BOMB    ((object_t *)0xD700)
#define SLOT_FLAME   ((object_t *)0xD800) /* a burning ember seed */
#define SLOT_CARRIED ((object_t *)0xDC00)
#define SLOT_PUSHED  ((object_t *)0xD140)

/* --- values ------------------------------------------------------------ */
enum { DIR_UP, DIR_RIGHT, DIR_DOWN, DIR_LEFT, DIR_NONE = 0xFF };

#define KEY_A      0x01
#define KEY_B      0x02
#define KEY_SELECT 0x04
#define KEY_START  0x08
#define KEY_RIGHT  0x10
#define KEY_LEFT   0x20
#define KEY_UP     0x40
#define KEY_DOWN   0x80
#define KEY_DPAD   0xF0

#define LINK_NORMAL     1
#define LINK_RESPAWNING 2
#define LINK_DYING      3

enum { SCROLL_NONE = 1, SCROLL_ENTERING = 2, SCROLL_EDGE = 4, SCROLLING = 8 }; /* wScrollMode */

enum { SPRING, SUMMER, AUTUMN, WINTER };

/*
 * 01-08: doors up, right, down, left (key doors, boss doors, cracked walls).
 * 20 belongs to the chest, gift or treasure of the room, 80 to the keyhole,
 * key block, bombed cave or boss, 40 is free (O_SCENE uses it).
 */
#define ROOMFLAG_01      0x01
#define ROOMFLAG_02      0x02
#define ROOMFLAG_04      0x04
#define ROOMFLAG_08      0x08
#define ROOMFLAG_VISITED 0x10
#define ROOMFLAG_ITEM    0x20
#define ROOMFLAG_40      0x40
#define ROOMFLAG_80      0x80

/* amount: what the number in a chest, shop, gift or on the floor means */
#define TREASURE_SHIELD       0x01 /* stops shots from the front; passive */
#define TREASURE_BOMBS        0x03 /* amount: bombs, BCD */
#define TREASURE_SWORD        0x05 /* amount: level (0 and 1: the first) */
#define TREASURE_ROD          0x07 /* amount: bits of the seasons it brings (0F: all) */
#define TREASURE_SHOVEL       0x15
#define TREASURE_BRACELET     0x16 /* passive: A lifts pots and rocks, A throws */
#define TREASURE_FEATHER      0x17
#define TREASURE_SATCHEL      0x19 /* amount: ember seeds in it, BCD */
#define TREASURE_EMBER_SEEDS  0x20 /* amount: seeds, BCD */
#define TREASURE_RUPEES       0x28 /* amount: coins, BCD */
#define TREASURE_HEART_REFILL 0x29 /* amount: quarter hearts (0: all) */
#define TREASURE_CONTAINER    0x2A /* one more heart */
#define TREASURE_HEART_PIECE  0x2B
#define TREASURE_FLIPPERS     0x2E /* passive: swim */
#define TREASURE_SMALL_KEY    0x30
#define TREASURE_BOSS_KEY     0x31
#define TREASURE_COMPASS      0x32
#define TREASURE_MAP          0x33
#define TREASURE_ESSENCE      0x40
#define TREASURE_GNARLED_KEY  0x42 /* opens the keyhole EC */

/* Items for the A and B button; a treasure of the same number brings it. */
#define ITEM_BOMB    0x03
#define ITEM_SWORD   0x05
#define ITEM_ROD     0x07
#define ITEM_SHOVEL  0x15
#define ITEM_FEATHER 0x17
#define ITEM_SATCHEL 0x19

#define ENEMY_SPITTER 0x09 /* 2 health; walks, stops, shoots (half a heart) */
#define ENEMY_CHARGER 0x10 /* 2 health; runs when the player is in line (half a heart) */
#define ENEMY_BAT     0x32
#define ENEMY_SLIME   0x34
#define ENEMY_BEETLE  0x51
#define ENEMY_BOSS    0x78 /* O_BOSS only; 32x32 pixels, 12 health, two phases */

#define PART_DROP   0x01
#define PART_LEVER  0x05
#define PART_BUTTON 0x09
#define PART_SHOT   0x18
#define DROP_HEART  0x01
#define DROP_COIN   0x02
#define DROP_COIN5  0x03
#define DROP_BOMBS  0x04 /* four */
#define DROP_EMBERS 0x05 /* five */

/* People and things in interaction slots (sprites SPR_GRANNY, SPR_CHILD, ...). */
#define NPC_PUSHED   0x14 /* block on its way */
#define NPC_GIRL     0x2E
#define NPC_CHILD    0x35
#define NPC_MAN      0x37
#define NPC_GRANNY   0x3C
#define NPC_ELDER    0x3D
#define NPC_KEEPER   0x46
#define NPC_SHOPITEM 0x47
#define NPC_SPIRIT   0x50
#define NPC_TREASURE 0x60
#define NPC_ESSENCE  0x7F

/*
 * Tile indices are TILE_<NAME> in art.h, made from art/tiles.txt. Water and
 * holes need col=10 (free for the player, wall for enemies) and type=07 or
 * type=01: without flippers, or without a jump, the player falls in.
 */
#define TYPE_HOLE  1
#define TYPE_WATER 7

#define SOLID  0x0F
#define HAZARD 0x10 /* water, holes: walls to enemies only */

/* The one cave has dungeon index 1; its keys live in wDungeonSmallKeys[1]. */
#define CAVE_INDEX 1

#endif
