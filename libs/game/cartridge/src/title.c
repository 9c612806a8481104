/* Title picture: it waits for A or START. */
#include "game.h"

#define BLINK 32 /* frames for which the request is shown, and then not */

/* The buffer of the room serves as well before there is one; its last row is no room's. */
static void draw_row(uint8_t row, const char *map) {
    uint8_t i, pos = row << 4;

    for (i = 0; i < 10; i++, pos++) {
        wRoomLayout[pos] = tile_by_char[(uint8_t)(*map++ - 32)];
        room_draw_at(pos, row << 1, i << 1);
    }
    bg_changed(row << 1, (row << 1) + 2);
}

static void draw_picture(const char *map) {
    uint8_t row;

    for (row = 0; row < 9; row++, map += 10)
        draw_row(row, map);
    frame_line(3, 4, 12, ICON_BOX_TL);
    frame_line(4, 4, 12, ICON_BOX_L);
    frame_line(5, 4, 12, ICON_BOX_L);
    frame_line(6, 4, 12, ICON_BOX_BL);
#ifdef WORLD
    put_text(4, 5, WORLD_TITLE_LINE(0));
    put_text(5, 5, WORLD_TITLE_LINE(1));
#else
    put_text(4, 6, "SEEDLING");
    put_text(5, 8, "VALE");
#endif
    motions = MOTION_WATER | MOTION_PLANTS;
}

/* Pip looks around, and the seed floats over him. */
static void draw_sprites(uint8_t clock) {
    static const uint8_t height[8] = {0, 0, 1, 2, 2, 2, 1, 0};

    sprite_begin();
    sprite16(0x50, 0x50, SPR_P_DOWN, clock & 0x40 ? OBJ_FLIPX : 0);
    sprite16(0x38 - height[(clock >> 3) & 7], 0x50, SPR_SEED, 7);
    sprite_end();
}

void title_run(void) {
    static char map[90];
    uint8_t clock = 0;

    read_rooms(map, title_map, sizeof(map));
    draw_picture(map);
    draw_sprites(clock);
    fade_in();
    while (!(keys_seen & (KEY_A | KEY_START))) { /* a press during the fade counts, too */
        if (!(clock & (BLINK - 1))) {
            draw_row(8, map + 80);
            if (!(clock & BLINK))
                put_text(16, 5, "PRESS START");
        }
        if (!(clock++ & 7))
            draw_sprites(clock);
        frame();
    }
    sfx(SFX_START);
    for (clock = 0; clock < 10; clock++)
        wRoomLayout[0x80 + clock] = 0;
}
