/* Status bar: rows 0 and 1 of the screen. */
#include "game.h"

static uint8_t shown_health, shown_max, shown_keys, shown_a, shown_b;
static uint16_t shown_rupees;

void rupees_add(uint8_t bcd) {
    uint8_t *p = (uint8_t *)&wNumRupees, *t = (uint8_t *)&wTotalRupeesCollected;
    uint8_t i;

    /* One at a time keeps BCD simple; prizes are small. */
    for (i = (bcd >> 4) * 10 + (bcd & 15); i; i--) {
        if (!(p[0] == 0x99 && p[1] == 0x09)) {
            if ((++p[0] & 0x0F) == 0x0A) p[0] += 6;
            if (p[0] == 0xA0) { p[0] = 0; p[1]++; }
        }
        if (!(t[0] == 0x99 && t[1] == 0x99)) {
            if ((++t[0] & 0x0F) == 0x0A) t[0] += 6;
            if (t[0] == 0xA0) {
                t[0] = 0;
                if ((++t[1] & 0x0F) == 0x0A) t[1] += 6;
            }
        }
    }
}

static void draw_hearts(void) {
    uint8_t left = wLinkHealth, i, q;

    for (i = 0; i < wLinkMaxHealth; i += 4) {
        q = left > 4 ? 4 : left;
        left -= q;
        bg_put(0, 1 + (i >> 2), ICON_HEART0 + q, ATTR_TEXT);
    }
    shown_health = wLinkHealth;
    shown_max = wLinkMaxHealth;
    wDisplayedHearts = wLinkHealth;
}

uint8_t item_icon(uint8_t item) {
    switch (item) {
    case ITEM_SWORD:   return ICON_BLADE;
    case ITEM_BOMB:    return ICON_BOMB;
    case ITEM_ROD:     return ICON_ROD;
    case ITEM_SHOVEL:  return ICON_SHOVEL;
    case ITEM_FEATHER: return ICON_FEATHER;
    case ITEM_SATCHEL: return ICON_SATCHEL;
    }
    return ICON_BLANK;
}

/* Draw what has changed since it was last drawn. */
void hud_update(void) {
    if (wLinkHealth != shown_health || wLinkMaxHealth != shown_max)
        draw_hearts();
    if (wDungeonSmallKeys[CAVE_INDEX] != shown_keys) {
        shown_keys = wDungeonSmallKeys[CAVE_INDEX];
        put_digit(0, 13, shown_keys);
    }
    if (wNumRupees != shown_rupees) {
        shown_rupees = wNumRupees;
        put_digit(0, 16, (uint8_t)(shown_rupees >> 8));
        put_number(0, 17, (uint8_t)shown_rupees);
    }
    if (wInventoryB != shown_b) {
        shown_b = wInventoryB;
        bg_put(1, 15, item_icon(shown_b), ATTR_TEXT);
    }
    if (wInventoryA != shown_a) {
        shown_a = wInventoryA;
        bg_put(1, 18, item_icon(shown_a), ATTR_TEXT);
    }
}

/* Everything, with the name of the room. */
void hud_redraw(void) {
    clear_rows(0, 2);
    put_text(1, 1, room_name);
    bg_put(0, 12, ICON_KEY, ATTR_TEXT);
    bg_put(0, 15, ICON_COIN, ATTR_TEXT);
    put_text(1, 14, "B");
    put_text(1, 17, "A");
    shown_keys = shown_a = shown_b = 0xFF;
    shown_max = 0;
    shown_rupees = 0xFFFF;
    hud_update();
}
