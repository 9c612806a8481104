/* Getting things: what a treasure does, how it looks, and the moment of joy. */
#include "game.h"

uint8_t has_treasure(uint8_t t) {
    return wObtainedTreasureFlags[t >> 3] & (1 << (t & 7));
}

/* BCD bytes up to 99. */
void bcd_add(uint8_t *to, uint8_t amount, uint8_t most) {
    uint8_t n = (*to >> 4) * 10 + (*to & 15) + (amount >> 4) * 10 + (amount & 15);
    uint8_t limit = (most >> 4) * 10 + (most & 15);

    if (n > limit)
        n = limit;
    *to = (uint8_t)((n / 10) << 4) | (n % 10);
}

void bcd_less(uint8_t *from, uint8_t amount) {
    uint8_t n = (*from >> 4) * 10 + (*from & 15), m = (amount >> 4) * 10 + (amount & 15);

    n = n > m ? n - m : 0;
    *from = (uint8_t)((n / 10) << 4) | (n % 10);
}

/* An item goes to a free button first, else into the satchel. */
static void carry_item(uint8_t item) {
    uint8_t i;

    if (wInventoryA == item || wInventoryB == item)
        return;
    for (i = 0; i < 16; i++)
        if (wInventoryStorage[i] == item)
            return;
    if (!wInventoryA) {
        wInventoryA = item;
    } else if (!wInventoryB) {
        wInventoryB = item;
    } else {
        for (i = 0; i < 16 && wInventoryStorage[i]; i++)
            ;
        if (i < 16)
            wInventoryStorage[i] = item;
    }
}

static void heal(uint8_t quarters) {
    wLinkHealth += quarters;
    if (!quarters || wLinkHealth > wLinkMaxHealth)
        wLinkHealth = wLinkMaxHealth;
}

static void add_heart(void) {
    if (wLinkMaxHealth < 40)
        wLinkMaxHealth += 4;
    wLinkHealth = wLinkMaxHealth;
}

static void apply(uint8_t t, uint8_t amount) {
    switch (t) {
    case TREASURE_SHIELD:
        wShieldLevel = 1;
        break;
    case TREASURE_SWORD:
        if (amount > wSwordLevel || !wSwordLevel)
            wSwordLevel = amount ? amount : 1;
        carry_item(ITEM_SWORD);
        break;
    case TREASURE_BOMBS:
        bcd_add(&wNumBombs, amount, wMaxBombs);
        carry_item(ITEM_BOMB);
        break;
    case TREASURE_ROD:
        wObtainedSeasons |= 0x80 | amount;
        carry_item(ITEM_ROD);
        break;
    case TREASURE_FEATHER:
        wFeatherLevel = 1;
        carry_item(ITEM_FEATHER);
        break;
    case TREASURE_SHOVEL:
        carry_item(ITEM_SHOVEL);
        break;
    case TREASURE_SATCHEL:
        wSeedSatchelLevel = 1;
        carry_item(ITEM_SATCHEL);
        bcd_add(&wNumEmberSeeds, amount, 0x20);
        break;
    case TREASURE_EMBER_SEEDS:
        bcd_add(&wNumEmberSeeds, amount, 0x20);
        break;
    case TREASURE_RUPEES:
        rupees_add(amount);
        break;
    case TREASURE_HEART_REFILL:
        heal(amount);
        break;
    case TREASURE_CONTAINER:
        add_heart();
        break;
    case TREASURE_HEART_PIECE:
        if (++wNumHeartPieces == 4) {
            wNumHeartPieces = 0;
            add_heart();
        }
        break;
    case TREASURE_SMALL_KEY:
        if (wDungeonSmallKeys[CAVE_INDEX] < 9)
            wDungeonSmallKeys[CAVE_INDEX]++;
        break;
    case TREASURE_BOSS_KEY:
        wDungeonBossKeys |= 1 << CAVE_INDEX;
        break;
    case TREASURE_COMPASS:
        wDungeonCompasses |= 1 << CAVE_INDEX;
        break;
    case TREASURE_MAP:
        wDungeonMaps |= 1 << CAVE_INDEX;
        break;
    case TREASURE_ESSENCE:
        wEssencesObtained |= 1;
        break;
    }
}

static uint8_t text_of(uint8_t t) {
    const treasure_text_t *p = treasure_texts;
    treasure_text_t entry;

    for (;;) {
        read_rooms(&entry, p++, sizeof(entry));
        if (entry.treasure == t || !entry.treasure)
            return entry.text;
    }
}

typedef struct {
    uint8_t treasure, sprite, palette;
} look_t;

static const look_t looks[] = {
    {TREASURE_SHIELD, SPR_SHIELD, 2},
    {TREASURE_BOMBS, SPR_BOMB, 6},
    {TREASURE_SWORD, SPR_BLADE_V, 6},
    {TREASURE_ROD, SPR_ROD, 7},
    {TREASURE_SHOVEL, SPR_SHOVEL, 3},
    {TREASURE_BRACELET, SPR_BRACELET, 7},
    {TREASURE_FEATHER, SPR_FEATHER, 2},
    {TREASURE_SATCHEL, SPR_SATCHEL, 3},
    {TREASURE_EMBER_SEEDS, SPR_EMBER, 3},
    {TREASURE_RUPEES, SPR_COIN, 7},
    {TREASURE_HEART_REFILL, SPR_HEART, 5},
    {TREASURE_CONTAINER, SPR_CONTAINER, 5},
    {TREASURE_HEART_PIECE, SPR_PIECE, 5},
    {TREASURE_FLIPPERS, SPR_FLIPPERS, 2},
    {TREASURE_SMALL_KEY, SPR_KEY, 7},
    {TREASURE_BOSS_KEY, SPR_BOSSKEY, 5},
    {TREASURE_COMPASS, SPR_COMPASS, 2},
    {TREASURE_MAP, SPR_MAP, 7},
    {TREASURE_ESSENCE, SPR_SEED, 7},
    {TREASURE_GNARLED_KEY, SPR_GNARLED, 3},
    {0, SPR_COIN, 7}};

static const look_t *look_of(uint8_t t) {
    const look_t *l = looks;

    while (l->treasure && l->treasure != t)
        l++;
    return l;
}

uint8_t treasure_sprite(uint8_t t) {
    return look_of(t)->sprite;
}

uint8_t treasure_attr(uint8_t t) {
    return look_of(t)->palette;
}

void give_treasure(uint8_t t, uint8_t amount) {
    uint8_t text = text_of(t);

    wObtainedTreasureFlags[t >> 3] |= 1 << (t & 7);
    apply(t, amount);
    hud_update();
    if (!text)
        return;
    sfx(SFX_PRIZE);
    lifted_sprite = treasure_sprite(t);
    lifted_attr = treasure_attr(t);
    text_show(text);
    lifted_sprite = 0xFF;
}
