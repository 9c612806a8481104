/*
 * Text box: six rows at the bottom of the screen, or under the status bar
 * when the player stands low. Everything else stands still meanwhile.
 */
#include "game.h"

uint8_t text_more;
static uint8_t top; /* first screen row of the box */

/* One row of a box; its left piece tells which. */
void frame_line(uint8_t row, uint8_t col, uint8_t width, uint8_t left) {
    uint8_t right, middle, i;

    switch (left) {
    case ICON_BOX_TL: middle = ICON_BOX_T; right = ICON_BOX_TR; break;
    case ICON_BOX_BL: middle = ICON_BOX_B; right = ICON_BOX_BR; break;
    default:          middle = ICON_BLANK; right = ICON_BOX_R; break;
    }
    bg_put(row, col, left, ATTR_TEXT);
    for (i = 2; i < width; i++)
        bg_put(row, ++col, middle, ATTR_TEXT);
    bg_put(row, ++col, right, ATTR_TEXT);
}

static void draw_box(void) {
    uint8_t i;

    frame_line(top, 0, 20, ICON_BOX_TL);
    for (i = 1; i < 5; i++)
        frame_line(top + i, 0, 20, ICON_BOX_L);
    frame_line(top + 5, 0, 20, ICON_BOX_BL);
}

static void wait_for_a(void) {
    do
        frame();
    while (!(wKeysJustPressed & (KEY_A | KEY_B)));
}

static void read_text(uint8_t id) {
    const char *s;

    read_texts(&s, texts + id, sizeof(s));
    read_texts(TEXT_BUF, s, 255);
    TEXT_BUF[254] = 0;
}

/* Write one page; returns the character that ended it. */
static const char *draw_page(const char *s) {
    uint8_t row = top + 1, col = 1;

    while (*s && *s != '\f') {
        if (*s == '\n') {
            row++;
            col = 1;
            sfx(SFX_TEXT);
            frame(); /* a line a frame reads as typing */
        } else {
            bg_put(row, col++, art_glyph[(uint8_t)(*s - 32)], ATTR_TEXT);
        }
        s++;
    }
    return s;
}

/* Where the player does not stand. */
static void place_box(void) {
    if (lk_y < 72) {
        top = 12;
        wTextboxPosition = 2;
        hide_from = 96;
        hide_to = 161;
    } else {
        top = 2;
        wTextboxPosition = 0;
        hide_from = 16;
        hide_to = 79;
    }
}

static void open_box(uint8_t id) {
    wTextIsActive = 1; /* first: from here on he does not obey */
    read_text(id);
    wTextDisplayMode = 0;
    wTextIndexL = id;
    wTextIndexH = 4;
    wSelectedTextOption = 0xFF;
    place_box();
    scene_draw();
    draw_box();
    frame();
}

static void close_box(void) {
    uint8_t row = (top - 2) >> 1;

    hide_from = hide_to = 0;
    room_draw_rows(row, row + 3);
    scene_draw();
    frame();
    if (!text_more)
        wTextIsActive = 0;
    wTextDisplayMode = 0;
    wKeysJustPressed = 0;
    scene_changed = 1;
}

/* All pages; the last one stays on the screen. */
static void draw_pages(void) {
    const char *s = TEXT_BUF;
    uint8_t i;

    for (;;) {
        s = draw_page(s);
        if (!*s)
            return;
        bg_put(top + 4, 18, ICON_MORE, ATTR_TEXT);
        wait_for_a();
        s++;
        for (i = 1; i < 5; i++)
            frame_line(top + i, 0, 20, ICON_BOX_L);
    }
}

void text_show(uint8_t id) {
    open_box(id);
    draw_pages();
    wait_for_a();
    close_box();
}

static void draw_options(void) {
    uint8_t yes = wSelectedTextOption == 0;

    bg_put(top + 4, 3, yes ? ICON_CURSOR : ICON_BLANK, ATTR_TEXT);
    put_text(top + 4, 4, "Yes");
    bg_put(top + 4, 10, yes ? ICON_BLANK : ICON_CURSOR, ATTR_TEXT);
    put_text(top + 4, 11, "No");
}

/* A question: left and right choose, A takes the choice, B means no. */
uint8_t text_ask(uint8_t id) {
    open_box(id);
    draw_pages();
    wSelectedTextOption = 0;
    wTextDisplayMode = 1;
    for (;;) {
        draw_options();
        do
            frame();
        while (!wKeysJustPressed);
        if (wKeysJustPressed & KEY_LEFT)
            wSelectedTextOption = 0;
        if (wKeysJustPressed & KEY_RIGHT)
            wSelectedTextOption = 1;
        if (wKeysJustPressed & KEY_B)
            wSelectedTextOption = 1;
        if (wKeysJustPressed & (KEY_A | KEY_B))
            break;
    }
    close_box();
    return wSelectedTextOption == 0;
}
