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
#define VQ_BUF     ((uint8_t *)0xC300) /* 4 bytes per queued tile, one page */

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
#define wInventoryB          M8(0xC680)
#define wInventoryA          M8(0xC681)
#define wObtainedTreasureFlags ((uint8_t *)0xC692)
#define wLinkHealth          M8(0xC6A2)
#define wLinkMaxHealth       M8(0xC6A3)
#define wNumRupees           M16(0xC6A5) /* BCD */
#define wShieldLevel         M8(0xC6A9)
#define wMaxBombs            M8(0xC6AB)
#define wSwordLevel          M8(0xC6AC)
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
#define wLinkUsingItem1      M8(0xCC7A)
#define wLinkTurningDisabled M8(0xCC7B)
#define wLinkPushingDirection M8(0xCC80)
#define wPushingAgainstTileCounter M8(0xCC84)
#define wRoomEdgeY           M8(0xCCA0)
#define wRoomEdgeX           M8(0xCCA1)
#define wEnteredWarpPosition M8(0xCCA8)
#define wActiveTilePos       M8(0xCCB3)
#define wActiveTileIndex     M8(0xCCB4)
#define wActiveTileType      M8(0xCCB6)
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

#define LINK_NORMAL 1
#define LINK_DYING  3

#define ROOMFLAG_DOOR_UP 0x01
#define ROOMFLAG_VISITED 0x10
#define ROOMFLAG_ITEM    0x20
#define ROOMFLAG_40      0x40
#define ROOMFLAG_80      0x80

#define TREASURE_SWORD        0x05
#define TREASURE_RUPEES       0x28
#define TREASURE_HEART_REFILL 0x29
#define TREASURE_SMALL_KEY    0x30
#define TREASURE_ESSENCE      0x40

#define ITEM_SWORD 0x05

#define ENEMY_BAT    0x32
#define ENEMY_SLIME  0x34
#define ENEMY_BEETLE 0x51

#define PART_DROP 0x01
#define DROP_HEART 0x01
#define DROP_COIN  0x02
#define DROP_COIN5 0x03

#define NPC_CHILD   0x35
#define NPC_GRANNY  0x3C
#define NPC_ESSENCE 0x7F

/* Tile indices the engine itself knows */
#define TILE_GRASS        0x02
#define TILE_KEYDOOR_UP   0x70 /* 0x70-0x73: up, right, down, left */
#define TILE_FLOOR        0xA0
#define TILE_BUSH         0xC4
#define TILE_CAVE_MOUTH   0xE8
#define TILE_KEYHOLE      0xEC
#define TILE_CHEST_OPEN   0xF0
#define TILE_CHEST        0xF1
#define TILE_SIGN         0xF2

#define SOLID 0x0F

/* The one cave has dungeon index 1; its keys live in wDungeonSmallKeys[1]. */
#define CAVE_INDEX 1

#endif
