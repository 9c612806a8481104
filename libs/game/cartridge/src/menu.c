/* The satchel: what the player carries. START opens it; START or B closes it. */
#include "game.h"

void menu_run(void) {
    wOpenedMenuType = 1;
    wMenuLoadState = 0;
    sprite_begin();
    sprite_end();
    frame();
    clear_rows(2, 18);
    put_text(4, 6, "SATCHEL");
    put_text(7, 3, "Blade");
    if (wSwordLevel) {
        vq_put(7, 14, ICON_BLADE, ATTR_TEXT);
    } else {
        put_text(7, 14, "-");
    }
    put_text(9, 3, "Small keys");
    put_number(9, 14, wDungeonSmallKeys[CAVE_INDEX]);
    put_text(11, 3, "Coins");
    vq_put(11, 14, art_glyph['0' - 32 + (uint8_t)(wNumRupees >> 8)], ATTR_TEXT);
    put_number(11, 15, (uint8_t)wNumRupees);
    put_text(13, 3, "Sun Seed");
    if (wEssencesObtained & 1) {
        vq_put(13, 14, ICON_SEED, ATTR_TEXT);
    } else {
        put_text(13, 14, "-");
    }
    put_text(16, 3, "START: go on");

    wMenuLoadState = 1;
    wMenuActiveState = 1;
    do
        frame();
    while (!(wKeysJustPressed & (KEY_START | KEY_B)));

    wMenuLoadState = 2;
    room_draw();
    scene_draw();
    frame();
    wOpenedMenuType = 0;
    wMenuLoadState = 0;
    wMenuActiveState = 0;
    wKeysJustPressed = 0;
}
