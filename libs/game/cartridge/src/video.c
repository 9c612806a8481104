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

static void copy_to_vram(uint8_t *to, const uint8_t *from, uint16_t n) {
    while (n--)
        *to++ = *from++;
}

/* Called once with the screen off. */
void video_init(void) {
    uint8_t *p;

    rVBK = 0;
    copy_to_vram((uint8_t *)0x8000, art_bg, ART_BG_SIZE);
    for (p = (uint8_t *)0x9800; p != (uint8_t *)0x9C00; p++)
        *p = ICON_BLANK;
    rVBK = 1;
    copy_to_vram((uint8_t *)0x8000, art_obj, ART_OBJ_SIZE);
    copy_to_vram((uint8_t *)(0x8000 + TEXT_BASE * 16), art_text, ART_TEXT_SIZE);
    for (p = (uint8_t *)0x9800; p != (uint8_t *)0x9C00; p++)
        *p = ATTR_TEXT;
    rVBK = 0;
    pal_load_bg(art_palette0);
    pal_load_obj(art_palette0 + 64);
    rSCX = 0;
    rSCY = 0;
    oam_dirty = 1;
    rLCDC = LCDC_ON | LCDC_BG8000 | LCDC_OBJ16 | LCDC_OBJ | LCDC_BG;
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

/* Two digits. */
void put_number(uint8_t row, uint8_t col, uint8_t bcd) {
    vq_put(row, col, art_glyph['0' - 32 + (bcd >> 4)], ATTR_TEXT);
    vq_put(row, col + 1, art_glyph['0' - 32 + (bcd & 15)], ATTR_TEXT);
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

static void fade_step(const uint8_t *colours) {
    frame();
    pal_load_bg(colours);
    frame();
    pal_load_obj(colours + 64);
}

void fade_out(void) {
    wPaletteThread_mode = 1;
    fade_step(art_palette1);
    fade_step(art_palette2);
    fade_step(art_palette3);
}

void fade_in(void) {
    wPaletteThread_mode = 1;
    fade_step(art_palette2);
    fade_step(art_palette1);
    fade_step(art_palette0);
    wPaletteThread_mode = 0;
}
