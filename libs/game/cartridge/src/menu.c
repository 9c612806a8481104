/*
 * The satchel. The pad moves the cursor over the items, of which the status bar
 * tells the name; A or B puts the one under it on that button. START closes it.
 */
#include "game.h"

#define CELLS 4 /* there are six items, and two are on the buttons */

static uint8_t cursor; /* cell of wInventoryStorage */

static void draw_treasure(uint8_t y, uint8_t x, uint8_t treasure) {
    sprite16(y, x, treasure_sprite(treasure), treasure_attr(treasure));
}

/* What works by itself, at most five: a line of the screen shows no more sprites. */
static void draw_passive(void) {
    static const uint8_t passive[] = {
        TREASURE_SHIELD, TREASURE_BRACELET, TREASURE_FLIPPERS, TREASURE_GNARLED_KEY,
        TREASURE_BOSS_KEY};
    uint8_t i, x = 0x18;

    for (i = 0; i < sizeof(passive); i++, x += 24)
        if (has_treasure(passive[i]))
            draw_treasure(0x44, x, passive[i]);
}

static const char *item_name(uint8_t item) {
    switch (item) {
    case ITEM_SWORD:   return "Briar Blade ";
    case ITEM_BOMB:    return "Bombs       ";
    case ITEM_ROD:     return "Season Rod  ";
    case ITEM_SHOVEL:  return "Shovel      ";
    case ITEM_FEATHER: return "Gale Feather";
    case ITEM_SATCHEL: return "Ember Seeds ";
    }
    return "Satchel     ";
}

/* An item has the number of the treasure that brings it. */
static void draw_sprites(void) {
    uint8_t i, x = 0x20;

    sprite_begin();
    sprite16(0x2A, 0x20 + (uint8_t)(cursor << 5), SPR_CURSOR, 0);
    for (i = 0; i < CELLS; i++, x += 32)
        if (wInventoryStorage[i])
            draw_treasure(0x2A, x, wInventoryStorage[i]);
    if (wInventoryB)
        draw_treasure(0x10, 0x38, wInventoryB);
    if (wInventoryA)
        draw_treasure(0x10, 0x78, wInventoryA);
    draw_passive();
    sprite_end();
    put_text(1, 1, item_name(wInventoryStorage[cursor]));
}

static void draw_frame(void) {
    uint8_t row, col;

    frame_line(2, 0, 20, ICON_BOX_TL);
    for (row = 3; row < 17; row++)
        frame_line(row, 0, 20, ICON_BOX_L);
    frame_line(17, 0, 20, ICON_BOX_BL);
    for (col = 1; col < 19; col++)
        bg_put(12, col, ICON_BOX_T, ATTR_TEXT);
}

/* What is on the buttons is drawn with sprites; here are the counts. */
static void draw_text(void) {
    put_text(3, 4, "B");
    put_text(3, 12, "A");
    put_text(13, 1, "Bombs");
    put_number(13, 8, wNumBombs);
    put_text(14, 1, "Embers");
    put_number(14, 8, wNumEmberSeeds);
    put_text(15, 1, "Pieces");
    put_digit(15, 8, wNumHeartPieces);
    put_text(15, 9, "/4");
    if (wEssencesObtained) {
        put_text(16, 1, "Sun Seed");
        bg_put(16, 10, ICON_SEED, ATTR_TEXT);
    }
}

/* One cell of the dungeon, which is also the id of its room: here, visited or known from the map, felt by the compass. */
static uint8_t map_icon(uint8_t cell) {
    if (!(dungeon_cells[cell >> 3] & (1 << (cell & 7))))
        return ICON_BLANK;
    if (cell == wDungeonMapPosition)
        return ICON_HERE;
    if (wDungeonCompasses && room_hides_treasure(4, cell))
        return ICON_COIN;
    if (wDungeonMaps || (M8(0xC900 + cell) & ROOMFLAG_VISITED))
        return ICON_ROOM;
    return ICON_BLANK;
}

/* The upper four rows of the 8x8 grid hold the dungeon. */
static void draw_map(void) {
    uint8_t cell, icon;

    for (cell = 0; cell < 32; cell++) {
        icon = map_icon(cell);
        if (icon != ICON_BLANK)
            bg_put(13 + (cell >> 3), 11 + (cell & 7), icon, ATTR_TEXT);
    }
}

static void move_cursor(uint8_t keys) {
    if (keys & KEY_LEFT)  cursor = (cursor - 1) & (CELLS - 1);
    if (keys & KEY_RIGHT) cursor = (cursor + 1) & (CELLS - 1);
}

/* Change places with what is on the button. */
static void equip(uint8_t *button) {
    uint8_t item = *button;

    *button = wInventoryStorage[cursor];
    wInventoryStorage[cursor] = item;
    sfx(SFX_CURSOR);
    hud_update();
}

static void open_menu(void) {
    wOpenedMenuType = 1;
    wMenuLoadState = 0;
    sfx(SFX_MENU);
    fade_out();
    draw_frame();
    draw_text();
    if (wActiveGroup == 4)
        draw_map();
    draw_sprites();
    fade_in();
    wMenuLoadState = 1;
    wMenuActiveState = 1;
}

static void close_menu(void) {
    wMenuLoadState = 2;
    sfx(SFX_MENU);
    fade_out();
    hud_redraw();
    room_draw();
    scene_draw();
    fade_in();
    wOpenedMenuType = 0;
    wMenuLoadState = 0;
    wMenuActiveState = 0;
    wKeysJustPressed = 0;
}

void menu_run(void) {
    uint8_t keys;

    open_menu();
    for (;;) {
        frame();
        keys = wKeysJustPressed;
        if (!keys)
            continue;
        if (keys & KEY_START)
            break;
        if (keys & KEY_DPAD) {
            sfx(SFX_CURSOR);
            move_cursor(keys);
        }
        if (keys & KEY_A)
            equip(&wInventoryA);
        else if (keys & KEY_B)
            equip(&wInventoryB);
        draw_sprites();
    }
    close_menu();
}
