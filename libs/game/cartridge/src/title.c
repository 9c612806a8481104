/* Title picture. A or START leaves it; it also leaves by itself. */
#include "game.h"

#define TITLE_FRAMES 120

void title_run(void) {
    static char map[90];
    const char *m = map;
    uint8_t row, col, i;
    uint16_t n;

    read_rooms(map, title_map, sizeof(map));
    for (row = 0; row < 18; row += 2)
        for (col = 0; col < 20; col += 2) {
            n = (uint16_t)tile_number[tile_by_char[(uint8_t)(*m++ - 32)]] << 2;
            for (i = 0; i < 4; i++)
                bg_put(row + (i >> 1), col + (i & 1), tile_quads[n + i], tile_attrs[n + i]);
        }
    frame_line(3, 4, 12, ICON_BOX_TL);
    frame_line(4, 4, 12, ICON_BOX_L);
    frame_line(5, 4, 12, ICON_BOX_L);
    frame_line(6, 4, 12, ICON_BOX_BL);
    put_text(4, 6, "SEEDLING");
    put_text(5, 8, "VALE");
    put_text(16, 6, "PRESS A");
    sprite_begin();
    sprite16(0x50, 0x50, SPR_P_DOWN, 0);
    sprite16(0x38, 0x50, SPR_SEED, 7);
    sprite_end();
    fade_in();
    /* A press while the picture was still being drawn counts too. */
    for (i = 0; i < TITLE_FRAMES && !(keys_seen & (KEY_A | KEY_START)); i++)
        frame();
}
