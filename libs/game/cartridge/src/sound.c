/*
 * Sound: effects on channels 1 and 4, a tune on 2 and 3. It only ever writes to
 * the sound chip, so that play is the same whether the chip is emulated or not;
 * between two notes it costs two counters a frame.
 */
#include "game.h"

uint8_t music_wait, sfx_wait; /* frames until the next note; 0: silent */
static uint8_t music_now, sfx_rank;
static const tune_note_t *music_next, *music_start;
static const sfx_note_t *sfx_next;

/* Channel registers of 2048 - 131072 / frequency, C2 to B6; the wave sounds an octave lower. */
static const uint16_t pitch[60] = {
    44, 156, 263, 363, 457, 547, 631, 711, 786, 856, 923, 986,
    1046, 1102, 1155, 1205, 1253, 1297, 1339, 1379, 1417, 1452, 1486, 1517,
    1547, 1575, 1602, 1627, 1650, 1673, 1694, 1714, 1732, 1750, 1767, 1783,
    1798, 1812, 1825, 1837, 1849, 1860, 1871, 1881, 1890, 1899, 1907, 1915,
    1923, 1930, 1936, 1943, 1949, 1954, 1959, 1964, 1969, 1974, 1978, 1982};

void sound_init(void) {
    static const uint8_t wave[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF,
                                     0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10};
    uint8_t i;

    rNR52 = 0x80;
    rNR50 = 0x55;
    rNR51 = 0xFF;
    for (i = 0; i < 16; i++)
        WAVE_RAM[i] = wave[i];
}

void music_play(uint8_t tune) {
    if (music_now == tune)
        return;
    music_now = tune;
    rNR22 = 0;
    rNR30 = 0;
    music_wait = 0;
    if (tune == TUNE_NONE)
        return;
    read_rooms(&music_start, tunes + tune, sizeof(music_start));
    music_next = music_start;
    music_wait = 1;
}

void music_step(void) {
    tune_note_t note;
    uint16_t p;

    read_rooms(&note, music_next++, sizeof(note));
    if (!note.frames) {
        music_next = music_start;
        read_rooms(&note, music_next++, sizeof(note));
    }
    music_wait = note.frames;
    if (note.lead == REST) {
        rNR22 = 0;
    } else if (note.lead) {
        p = pitch[note.lead - C2];
        rNR21 = 0x80;
        rNR22 = 0x93;
        rNR23 = (uint8_t)p;
        rNR24 = 0x80 | (uint8_t)(p >> 8);
    }
    if (note.bass == REST) {
        rNR30 = 0;
    } else if (note.bass) {
        p = pitch[note.bass - C2];
        rNR30 = 0x80;
        rNR32 = 0x40;
        rNR33 = (uint8_t)p;
        rNR34 = 0x80 | (uint8_t)(p >> 8);
    }
}

/* A louder thing is not cut off by a lesser one. */
void sfx(uint8_t which) {
    if (sfx_wait && which < sfx_rank)
        return;
    sfx_rank = which;
    read_rooms(&sfx_next, effects + which, sizeof(sfx_next));
    sfx_wait = 1;
}

void sfx_step(void) {
    sfx_note_t note;

    read_rooms(&note, sfx_next++, sizeof(note));
    sfx_wait = note.frames;
    if (!note.frames) {
        rNR12 = 0;
        rNR42 = 0;
        return;
    }
    if (note.sweep == NOISE) {
        rNR42 = note.volume;
        rNR43 = (uint8_t)note.pitch;
        rNR44 = 0x80;
        return;
    }
    rNR10 = note.sweep;
    rNR11 = note.duty;
    rNR12 = note.volume;
    rNR13 = (uint8_t)note.pitch;
    rNR14 = 0x80 | (uint8_t)(note.pitch >> 8);
}

/* The tune of the place where he is. */
void music_of_place(void) {
    music_play(wActiveGroup >= 4 ? TUNE_CAVE : TUNE_VALE);
}
