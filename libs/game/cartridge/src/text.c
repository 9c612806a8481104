/*
 * Text box: six rows at the bottom of the screen, or under the status bar
 * when the player stands low. Everything else stands still meanwhile.
 */
#include "game.h"

static uint8_t top; /* first screen row of the box */

/* One row of a box; its left piece tells which. */
void frame_line(uint8_t row, uint8_t col, uint8_t width, uint8_t left) {
    uint8_t right, middle, i;

    switch (left) {
    case ICON_BOX_TL: middle = ICON_BOX_T; right = ICON_BOX_TR; break;
    case ICON_BOX_BL: middle = ICON_BOX_B; right = ICON_BOX_BR; break;
    default:          middle = ICON_BLANK; right = ICON_BOX_R; break;
    }
    vq_put(row, col, left, ATTR_TEXT);
    for (i = 2; i < width; i++)
        vq_put(row, ++col, middle, ATTR_TEXT);
    vq_put(row, ++col, right, ATTR_TEXT);
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

/* Write one page; returns the character that ended it. */
static const char *draw_page(const char *s) {
    uint8_t row = top + 1, col = 1;

    while (*s && *s != '\f') {
        if (*s == '\n') {
            row++;
            col = 1;
            frame(); /* a line a frame reads as typing */
        } else {
            vq_put(row, col++, art_glyph[(uint8_t)(*s - 32)], ATTR_TEXT);
        }
        s++;
    }
    return s;
}

void text_show(uint8_t id) {
    const char *s = texts[id];
    uint8_t i;

    wTextIsActive = 1;
    wTextDisplayMode = 0;
    wTextIndexL = id;
    wTextIndexH = 4;
    wSelectedTextOption = 0xFF;
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
    scene_draw();
    frame();
    draw_box();
    for (;;) {
        s = draw_page(s);
        vq_put(top + 4, 18, *s ? ICON_MORE : ICON_BLANK, ATTR_TEXT);
        wait_for_a();
        if (!*s)
            break;
        s++;
        for (i = 1; i < 5; i++)
            frame_line(top + i, 0, 20, ICON_BOX_L);
    }
    hide_from = hide_to = 0;
    i = (top - 2) >> 1;
    room_draw_rows(i, i + 3);
    frame();
    wTextIsActive = 0;
    wKeysJustPressed = 0;
    scene_changed = 1;
}
