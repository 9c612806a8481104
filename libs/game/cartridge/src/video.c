/*
 * Background and sprites.
 *
 * Video memory may only be written while the screen is not being drawn. So the
 * background is put together in cartridge RAM, for as long as that takes, and
 * frame_sync sends the rows that changed in one vertical blank: a picture is
 * seen as a whole or not at all.
 */
#include "game.h"

#define BLACK 5 /* brightness levels: 0 full to 5 black */

uint8_t oam_dirty, bg_from, bg_to, bg_map;
uint8_t split_x, split_y;
uint8_t hide_from, hide_to;
uint8_t sprite_dy, sprite_dx;
uint8_t motions, motion_clock;
uint8_t oam_next; /* bytes of the sprite table in use */
static uint8_t oam_used, oam_objects, kept;

/*
 * Tiles as the background counts them: 0-127 from 0x9000, 128-255 from
 * 0x8800. That leaves 0x8000 to the sprites.
 */
static void load_tiles(uint8_t *zero, const uint8_t *from, uint16_t n) {
    uint16_t i;

    for (i = 0; i < n; i++, from += 16)
        read_art((i & 0x80 ? (uint8_t *)0x8000 : zero) + (i << 4), from, 16);
}

static void read_colours(uint8_t level) {
    /* Overworld by season, then groups 3, 4, 5: houses, the dungeon, caves. */
    uint8_t place = wActiveGroup ? wActiveGroup + 1 : wRoomStateModifier;

    read_art(COLOURS, art_bg_colours + ((uint16_t)(place * (BLACK + 1) + level) << 6), 64);
    read_art(COLOURS + 64, art_obj_colours + ((uint16_t)level << 6), 64);
}

/* Called once with the screen off. */
void video_init(void) {
    rVBK = 0;
    load_tiles((uint8_t *)0x9000, art_bg, ART_BG_TILES);
    rVBK = 1;
    load_tiles((uint8_t *)0x8000, art_obj, ART_OBJ_TILES);
    load_tiles((uint8_t *)0x9000, art_text, ART_TEXT_TILES);
    rVBK = 0;
    read_colours(BLACK);
    pal_load(COLOURS);
    rSCX = 0;
    rSCY = 0;
    bg_map = MAP_SCREEN;
    oam_dirty = 1;
    rLCDC = LCDC_REST;
}

/* The next picture of one kind of moving tiles, straight into vertical blank. */
static void move_tiles(const uint8_t *pictures, uint8_t phase, uint8_t first, uint8_t n) {
    art_to_vram((uint8_t *)0x9000 + ((uint16_t)first << 4),
                pictures + ((uint16_t)(phase * n) << 4), n - 1);
}

/*
 * Water, fire and plants of the room (bits of `motions`) move by pictures that
 * take turns. Called right after vertical blank began, every 16th frame, and
 * never all at once.
 */
void motions_step(void) {
    uint8_t step = motion_clock >> 4;

    if (motions & MOTION_FIRE)
        move_tiles(art_fire, step & 3, ART_FIRE_FIRST, ART_FIRE_TILES);
    if ((motions & MOTION_WATER) && (step & 1))
        move_tiles(art_water, (step >> 1) & 3, ART_WATER_FIRST, ART_WATER_TILES);
    if ((motions & MOTION_PLANTS) && !(step & 1))
        move_tiles(art_plants, (step >> 1) & 3, ART_PLANTS_FIRST, ART_PLANTS_TILES);
}

/* These rows of the picture are to be sent with the next frame. */
void bg_changed(uint8_t from, uint8_t to) {
    if (from < bg_from)
        bg_from = from;
    if (to > bg_to)
        bg_to = to;
}

void bg_put(uint8_t row, uint8_t col, uint8_t tile, uint8_t attr) {
    uint8_t *p = BG_TILES + ((uint16_t)row << 5) + col;

    p[0] = tile;
    p[0x400] = attr;
    bg_changed(row, row + 1);
}

void put_text(uint8_t row, uint8_t col, const char *s) {
    uint8_t *p = BG_TILES + ((uint16_t)row << 5) + col;

    while (*s) {
        *p = art_glyph[(uint8_t)(*s++ - 32)];
        p[0x400] = ATTR_TEXT;
        p++;
    }
    bg_changed(row, row + 1);
}

void put_digit(uint8_t row, uint8_t col, uint8_t digit) {
    bg_put(row, col, art_glyph['0' - 32 + digit], ATTR_TEXT);
}

/* Two digits. */
void put_number(uint8_t row, uint8_t col, uint8_t bcd) {
    put_digit(row, col, bcd >> 4);
    put_digit(row, col + 1, bcd & 15);
}

void clear_rows(uint8_t from, uint8_t to) {
    uint8_t *p, i;

    bg_changed(from, to);
    for (; from < to; from++) {
        p = BG_TILES + ((uint16_t)from << 5);
        for (i = 20; i; i--) {
            *p = ICON_BLANK;
            p[0x400] = ATTR_TEXT;
            p++;
        }
    }
}

void sprite_begin(void) {
    oam_next = 0;
}

/* The player is drawn; what follows belongs to the room. */
void sprite_objects(void) {
    oam_objects = oam_next;
}

/* Hide what the previous picture used beyond this one, and ask for the DMA. */
void sprite_end(void) {
    uint8_t i;

    for (i = oam_next; i < oam_used; i += 4)
        OAM_SHADOW[i] = 0;
    oam_used = oam_next;
    oam_dirty = 1;
}

/*
 * Move a sprite in a direction, by less than the screen is wide. It ends where
 * it would leave the screen.
 */
static void shift_sprite(uint8_t *p, uint8_t dir, uint8_t by) {
    uint8_t at = p[dir & 1];

    if (dir == DIR_UP || dir == DIR_LEFT)
        at = at > by ? at - by : 0;
    else
        at = at < (dir & 1 ? 168 : 160) - by ? at + by : 0;
    p[dir & 1] = at;
    if (!at)
        p[0] = 0;
}

/* Remember what is on the screen besides the player: it leaves with its room. */
void sprites_keep(void) {
    uint8_t i, *to = (uint8_t *)TEXT_BUF;

    for (i = oam_objects; i < oam_used; i++)
        *to++ = OAM_SHADOW[i];
    kept = oam_used - oam_objects;
}

/*
 * One picture of a scroll towards `dir`. What has been drawn since
 * sprite_objects belongs to the new room and is still `left` pixels from its
 * place; what the old room left goes the other way by `step`.
 */
void sprites_scroll(uint8_t dir, uint8_t left, uint8_t step) {
    uint8_t i, *p, *old = (uint8_t *)TEXT_BUF;

    for (i = oam_objects; i < oam_next; i += 4)
        shift_sprite(OAM_SHADOW + i, dir, left);
    for (i = 0; i < kept; i += 4, old += 4) {
        if (old[0])
            shift_sprite(old, dir ^ 2, step);
        if (!old[0] || oam_next >= 160)
            continue;
        p = OAM_SHADOW + oam_next;
        p[0] = old[0];
        p[1] = old[1];
        p[2] = old[2];
        p[3] = old[3];
        oam_next += 4;
    }
}

/* Colours may only be sent right after vertical blank began. */
static void fade_step(uint8_t level) {
    read_colours(level);
    frame();
    pal_load(COLOURS);
}

/* A level a frame. */
void fade_out(void) {
    uint8_t level;

    wPaletteThread_mode = 1;
    for (level = 1; level <= BLACK; level++)
        fade_step(level);
}

/* What has been drawn meanwhile is sent first, unseen. */
void fade_in(void) {
    uint8_t level;

    wPaletteThread_mode = 1;
    frame();
    for (level = BLACK; level; level--)
        fade_step(level - 1);
    wPaletteThread_mode = 0;
}
