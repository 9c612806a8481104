/* Status bar: rows 0 and 1 of the screen. */
#include "game.h"

static uint8_t shown_health, shown_max, shown_keys, shown_item, shown_seeds;
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
        vq_put(0, 1 + (i >> 2), ICON_HEART0 + q, ATTR_TEXT);
    }
    shown_health = wLinkHealth;
    shown_max = wLinkMaxHealth;
    wDisplayedHearts = wLinkHealth;
}

/* Draw what has changed since it was last drawn. */
void hud_update(void) {
    if (wLinkHealth != shown_health || wLinkMaxHealth != shown_max)
        draw_hearts();
    if (wDungeonSmallKeys[CAVE_INDEX] != shown_keys) {
        shown_keys = wDungeonSmallKeys[CAVE_INDEX];
        vq_put(0, 13, art_glyph['0' - 32 + shown_keys], ATTR_TEXT);
    }
    if (wNumRupees != shown_rupees) {
        shown_rupees = wNumRupees;
        vq_put(0, 16, art_glyph['0' - 32 + (uint8_t)(shown_rupees >> 8)], ATTR_TEXT);
        put_number(0, 17, (uint8_t)shown_rupees);
    }
    if (wInventoryA != shown_item) {
        shown_item = wInventoryA;
        vq_put(1, 18, shown_item ? ICON_BLADE : ICON_BLANK, ATTR_TEXT);
    }
    if (wEssencesObtained != shown_seeds) {
        shown_seeds = wEssencesObtained;
        vq_put(1, 14, shown_seeds ? ICON_SEED : ICON_BLANK, ATTR_TEXT);
    }
}

/* Everything, with the name of the room. */
void hud_redraw(void) {
    clear_rows(0, 2);
    put_text(1, 1, room->name);
    vq_put(0, 12, ICON_KEY, ATTR_TEXT);
    vq_put(0, 15, ICON_COIN, ATTR_TEXT);
    vq_put(1, 17, art_glyph['A' - 32], ATTR_TEXT);
    shown_keys = shown_item = shown_seeds = 0xFF;
    shown_max = 0;
    shown_rupees = 0xFFFF;
    hud_update();
}
