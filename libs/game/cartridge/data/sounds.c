/*
 * Two tunes and the sounds of the game, all written for it.
 *
 * A tune is a row of moments: lead, bass, frames. An effect is a row of tones
 * (frames, sweep, duty, volume and envelope, pitch) or of noises.
 */
#include "sounds.h"

/* The vale, in C: bright, going round without an end. */
static const tune_note_t vale[] = {
    {G4, C3, 9},
    {E4, HOLD, 9},
    {G4, G3, 9},
    {C5, HOLD, 9},
    {B4, G2, 9},
    {G4, HOLD, 9},
    {D4, D3, 18},
    {A4, F3, 9},
    {G4, HOLD, 9},
    {A4, C4, 9},
    {C5, HOLD, 9},
    {G4, C3, 18},
    {E4, G3, 9},
    {D4, HOLD, 9},
    {E4, A2, 9},
    {D4, HOLD, 9},
    {E4, E3, 9},
    {G4, HOLD, 9},
    {A4, F2, 9},
    {C5, HOLD, 9},
    {B4, C3, 9},
    {A4, HOLD, 9},
    {G4, G2, 18},
    {A4, D3, 9},
    {B4, HOLD, 9},
    {C5, C3, 18},
    {REST, G3, 9},
    {G4, HOLD, 9},
    {E5, C3, 9},
    {D5, HOLD, 9},
    {C5, G3, 9},
    {G4, HOLD, 9},
    {A4, A2, 9},
    {B4, HOLD, 9},
    {C5, E3, 9},
    {E5, HOLD, 9},
    {D5, G2, 18},
    {B4, D3, 9},
    {G4, HOLD, 9},
    {A4, F2, 18},
    {F4, C3, 9},
    {A4, HOLD, 9},
    {G4, E3, 9},
    {A4, HOLD, 9},
    {G4, C3, 9},
    {E4, HOLD, 9},
    {F4, D3, 9},
    {E4, HOLD, 9},
    {D4, A2, 9},
    {F4, HOLD, 9},
    {E4, G2, 9},
    {G4, HOLD, 9},
    {D4, B2, 9},
    {F4, HOLD, 9},
    {E4, C3, 9},
    {D4, HOLD, 9},
    {C4, G2, 18},
    {C4, A2, 9},
    {E4, HOLD, 9},
    {A4, E3, 18},
    {G4, E2, 9},
    {E4, HOLD, 9},
    {B3, B2, 18},
    {A3, F2, 9},
    {C4, HOLD, 9},
    {F4, C3, 9},
    {A4, HOLD, 9},
    {G4, C3, 18},
    {E4, G2, 18},
    {F4, D3, 9},
    {A4, HOLD, 9},
    {D5, A3, 9},
    {C5, HOLD, 9},
    {B4, G2, 9},
    {A4, HOLD, 9},
    {B4, D3, 9},
    {G4, HOLD, 9},
    {C5, C3, 9},
    {B4, HOLD, 9},
    {A4, E3, 9},
    {G4, HOLD, 9},
    {C5, C3, 18},
    {REST, G2, 9},
    {REST, C3, 9},
    {0}};

/* Under the ground, in A minor: slow. */
static const tune_note_t cave[] = {
    {A3, A2, 28},
    {C4, E3, 28},
    {B3, E2, 28},
    {E4, B2, 28},
    {D4, D3, 14},
    {C4, HOLD, 14},
    {A3, A2, 28},
    {Gs3, E2, 28},
    {B3, E3, 28},
    {A3, A2, 14},
    {E4, HOLD, 14},
    {D4, F2, 14},
    {C4, HOLD, 14},
    {B3, G2, 14},
    {D4, HOLD, 14},
    {C4, C3, 28},
    {F4, D3, 14},
    {E4, HOLD, 14},
    {D4, B2, 14},
    {B3, HOLD, 14},
    {A3, E2, 14},
    {Gs3, HOLD, 14},
    {A3, A2, 28},
    {E4, C3, 28},
    {G4, G2, 28},
    {F4, D3, 14},
    {D4, HOLD, 14},
    {A3, F2, 28},
    {C4, A2, 14},
    {B3, HOLD, 14},
    {A3, E3, 14},
    {C4, HOLD, 14},
    {B3, E2, 14},
    {REST, HOLD, 14},
    {REST, B2, 14},
    {E3, HOLD, 14},
    {A3, A2, 28},
    {E4, A3, 28},
    {Ds4, B2, 28},
    {B3, Fs3, 28},
    {D4, F2, 14},
    {C4, HOLD, 14},
    {B3, E2, 14},
    {Gs3, HOLD, 14},
    {A3, A2, 28},
    {REST, E2, 28},
    {0}};

const tune_note_t *const tunes[] = {0, vale, cave};

static const sfx_note_t text[] = {
    {2, 0x00, 0x80, 0x31, 1899},
    {0}};

static const sfx_note_t cursor[] = {
    {3, 0x00, 0x40, 0x51, 1849},
    {0}};

static const sfx_note_t swing[] = {
    {4, NOISE, 0, 0x61, 0x24},
    {6, NOISE, 0, 0x41, 0x15},
    {0}};

static const sfx_note_t lift[] = {
    {4, 0x16, 0x40, 0x62, 1379},
    {5, 0x00, 0x40, 0x61, 1548},
    {0}};

static const sfx_note_t jump[] = {
    {12, 0x25, 0x40, 0x73, 1548},
    {0}};

static const sfx_note_t coin[] = {
    {4, 0x00, 0x80, 0x71, 1915},
    {12, 0x00, 0x80, 0x73, 1949},
    {0}};

static const sfx_note_t heart[] = {
    {4, 0x00, 0x80, 0x72, 1798},
    {4, 0x00, 0x80, 0x72, 1849},
    {8, 0x00, 0x80, 0x72, 1881},
    {0}};

static const sfx_note_t cut[] = {
    {3, NOISE, 0, 0x81, 0x33},
    {7, NOISE, 0, 0x61, 0x52},
    {0}};

static const sfx_note_t hit[] = {
    {3, NOISE, 0, 0xC1, 0x41},
    {6, 0x1D, 0x00, 0x91, 1651},
    {0}};

static const sfx_note_t beaten[] = {
    {5, 0x1C, 0x40, 0xA1, 1750},
    {5, NOISE, 0, 0xB1, 0x44},
    {14, NOISE, 0, 0x92, 0x56},
    {0}};

static const sfx_note_t hurt[] = {
    {4, 0x1B, 0x80, 0xC1, 1452},
    {4, 0x1B, 0x80, 0xA1, 1254},
    {6, NOISE, 0, 0x81, 0x55},
    {0}};

static const sfx_note_t splash[] = {
    {6, NOISE, 0, 0x92, 0x35},
    {14, NOISE, 0, 0x72, 0x45},
    {0}};

static const sfx_note_t blast[] = {
    {8, NOISE, 0, 0xF0, 0x47},
    {12, NOISE, 0, 0xC2, 0x56},
    {24, NOISE, 0, 0x93, 0x67},
    {0}};

static const sfx_note_t menu[] = {
    {4, 0x00, 0x40, 0x71, 1849},
    {6, 0x00, 0x40, 0x71, 1899},
    {0}};

static const sfx_note_t door[] = {
    {4, NOISE, 0, 0xA1, 0x57},
    {6, 0x00, 0x40, 0x92, 1047},
    {12, 0x00, 0x40, 0x93, 711},
    {0}};

static const sfx_note_t season[] = {
    {5, 0x00, 0x80, 0x83, 1881},
    {5, 0x00, 0x80, 0x83, 1915},
    {5, 0x00, 0x80, 0x83, 1936},
    {5, 0x00, 0x80, 0x83, 1959},
    {18, 0x00, 0x80, 0x85, 1982},
    {0}};

static const sfx_note_t start[] = {
    {6, 0x00, 0x80, 0x92, 1798},
    {6, 0x00, 0x80, 0x92, 1881},
    {18, 0x00, 0x80, 0x94, 1923},
    {0}};

static const sfx_note_t secret[] = {
    {6, 0x00, 0x40, 0x92, 1825},
    {6, 0x00, 0x40, 0x92, 1812},
    {6, 0x00, 0x40, 0x92, 1871},
    {6, 0x00, 0x40, 0x92, 1860},
    {6, 0x00, 0x40, 0x92, 1899},
    {20, 0x00, 0x40, 0x95, 1936},
    {0}};

static const sfx_note_t prize[] = {
    {8, 0x00, 0x80, 0xA3, 1798},
    {8, 0x00, 0x80, 0xA3, 1798},
    {8, 0x00, 0x80, 0xA3, 1849},
    {12, 0x00, 0x80, 0xA4, 1881},
    {8, 0x00, 0x80, 0xA3, 1860},
    {36, 0x00, 0x80, 0xA7, 1923},
    {0}};

static const sfx_note_t death[] = {
    {10, 0x00, 0x80, 0xA3, 1750},
    {10, 0x00, 0x80, 0xA3, 1732},
    {10, 0x00, 0x80, 0xA3, 1694},
    {10, 0x00, 0x80, 0xA3, 1650},
    {40, 0x7F, 0x80, 0xA7, 1452},
    {0}};

const sfx_note_t *const effects[] = {
    text, cursor, swing, lift, jump, coin, heart, cut, hit, beaten,
    hurt, splash, blast, menu, door, season, start, secret, prize, death};
