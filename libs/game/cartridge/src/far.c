/* Reading the other ROM banks: rooms and texts, pictures and colours. */
#include "game.h"

uint8_t far_bank, far_len;

/* From the bank of the rooms and texts. n = 0: 256 bytes. */
void read_rooms(void *to, const void *from, uint8_t n) {
    far_bank = BANK_ROOMS;
    far_len = n;
    far_copy(to, from);
}

#ifdef WORLD
uint8_t data_bank;

/* Name, map and objects of a room, from its own bank. */
void read_data(void *to, const void *from, uint8_t n) {
    far_bank = data_bank ? data_bank : BANK_ROOMS;
    far_len = n;
    far_copy(to, from);
}

/* From the bank of the texts. */
void read_texts(void *to, const void *from, uint8_t n) {
    far_bank = BANK_TEXTS;
    far_len = n;
    far_copy(to, from);
}

/* Once, before anything else is read. */
void world_init(void) {
    read_rooms(&world, (const void *)0x4000, sizeof(world));
}
#endif

/* From the bank of the pictures. */
void read_art(void *to, const void *from, uint8_t n) {
    far_bank = BANK_ART;
    far_len = n;
    far_copy(to, from);
}
