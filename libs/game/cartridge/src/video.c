/*
 * Background and sprites.
 *
 * Video memory may only be written while the screen is not being drawn, so
 * the game puts tiles into a short queue that frame_sync sends during
 * vertical blank. A full queue is sent by waiting one frame: drawing a whole
 * room therefore simply takes about ten frames.
 */
#include "game.h"

#define VQ_MAX 32 /* as many as surely fit into one vertical blank */

uint8_t oam_dirty, vq_len;
uint8_t hide_from, hide_to;
static uint8_t oam_used, oam_next;

static uint8_t colours[64];

/*
 * Tiles as the background counts them: 0-127 from 0x9000, 128-255 from
 * 0x8800. That leaves 0x8000 to the sprites.
 */
static void load_tiles(uint8_t *zero, const uint8_t *from, uint16_t n) {
    uint16_t i;

    for (i = 0; i < n; i++, from += 16)
        read_art((i & 0x80 ? (uint8_t *)0x8000 : zero) + (i << 4), from, 16);
}

static void fill_screen(uint8_t value) {
    uint8_t *p;

    for (p = (uint8_t *)0x9800; p != (uint8_t *)0x9C00; p++)
        *p = value;
}

/* Brightness levels: 0 full to 3 black. */
static void read_bg_colours(uint8_t level) {
    /* Overworld by season, then groups 3, 4, 5: houses, the dungeon, caves. */
    uint8_t place = wActiveGroup ? wActiveGroup + 1 : wRoomStateModifier;

    read_art(colours, art_bg_colours + ((uint16_t)place << 8) + (uint8_t)(level << 6), 64);
}

static void read_obj_colours(uint8_t level) {
    read_art(colours, art_obj_colours + (uint8_t)(level << 6), 64);
}

/* Called once with the screen off. */
void video_init(void) {
    rVBK = 0;
    load_tiles((uint8_t *)0x9000, art_bg, ART_BG_TILES);
    fill_screen(ICON_BLANK);
    rVBK = 1;
    load_tiles((uint8_t *)0x8000, art_obj, ART_OBJ_TILES);
    load_tiles((uint8_t *)0x9000, art_text, ART_TEXT_TILES);
    fill_screen(ATTR_TEXT);
    rVBK = 0;
    read_bg_colours(0);
    pal_load_bg(colours);
    read_obj_colours(0);
    pal_load_obj(colours);
    rSCX = 0;
    rSCY = 0;
    oam_dirty = 1;
    rLCDC = LCDC_ON | LCDC_OBJ16 | LCDC_OBJ | LCDC_BG;
}

void vq_put(uint8_t row, uint8_t col, uint8_t tile, uint8_t attr) {
    uint8_t *q;

    if (vq_len >= VQ_MAX)
        frame();
    q = VQ_BUF + (uint8_t)(vq_len << 2);
    *q++ = (uint8_t)(row << 5) | col;
    *q++ = 0x98 + (row >> 3);
    *q++ = tile;
    *q = attr;
    vq_len++;
}

void put_text(uint8_t row, uint8_t col, const char *s) {
    while (*s) {
        vq_put(row, col++, art_glyph[(uint8_t)(*s - 32)], ATTR_TEXT);
        s++;
    }
}

void put_digit(uint8_t row, uint8_t col, uint8_t digit) {
    vq_put(row, col, art_glyph['0' - 32 + digit], ATTR_TEXT);
}

/* Two digits. */
void put_number(uint8_t row, uint8_t col, uint8_t bcd) {
    put_digit(row, col, bcd >> 4);
    put_digit(row, col + 1, bcd & 15);
}

void clear_rows(uint8_t from, uint8_t to) {
    uint8_t col;

    for (; from < to; from++)
        for (col = 0; col < 20; col++)
            vq_put(from, col, ICON_BLANK, ATTR_TEXT);
}

void sprite_begin(void) {
    oam_next = 0;
}

/* A 16x16 sprite whose top left corner is at room position (y - 8, x - 8). */
void sprite16(uint8_t y, uint8_t x, uint8_t tile, uint8_t attr) {
    uint8_t *p;

    if (oam_next >= 160)
        return;
    y += 24; /* 16 of the hardware + 16 of the status bar - 8 */
    if (y > hide_from && y < hide_to)
        return;
    p = OAM_SHADOW + oam_next;
    attr |= OBJ_BANK1;
    *p++ = y;
    *p++ = x;
    *p++ = attr & OBJ_FLIPX ? tile + 2 : tile;
    *p++ = attr;
    *p++ = y;
    *p++ = x + 8;
    *p++ = attr & OBJ_FLIPX ? tile : tile + 2;
    *p = attr;
    oam_next += 8;
}

/* Hide what the previous picture used beyond this one, and ask for the DMA. */
void sprite_end(void) {
    uint8_t i;

    for (i = oam_next; i < oam_used; i += 4)
        OAM_SHADOW[i] = 0;
    oam_used = oam_next;
    oam_dirty = 1;
}

/* Colours may only be sent right after vertical blank began, one half at a time. */
static void fade_step(uint8_t level) {
    read_bg_colours(level);
    frame();
    pal_load_bg(colours);
    read_obj_colours(level);
    frame();
    pal_load_obj(colours);
}

void fade_out(void) {
    uint8_t level;

    wPaletteThread_mode = 1;
    for (level = 1; level < 4; level++)
        fade_step(level);
}

void fade_in(void) {
    uint8_t level;

    wPaletteThread_mode = 1;
    for (level = 3; level; level--)
        fade_step(level - 1);
    wPaletteThread_mode = 0;
}
