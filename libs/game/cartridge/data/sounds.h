/* Tunes and effects: see data/sounds.c. */
#ifndef SOUNDS_H
#define SOUNDS_H

#include <stdint.h>

/* A moment of a tune: both voices, and how long. frames 0 starts it over. */
typedef struct {
    uint8_t lead, bass, frames;
} tune_note_t;

/* Voices: 0 goes on sounding, 1 is silent, then the notes C2 to B6. */
enum {
    HOLD, REST,
    C2, Cs2, D2, Ds2, E2, F2, Fs2, G2, Gs2, A2, As2, B2,
    C3, Cs3, D3, Ds3, E3, F3, Fs3, G3, Gs3, A3, As3, B3,
    C4, Cs4, D4, Ds4, E4, F4, Fs4, G4, Gs4, A4, As4, B4,
    C5, Cs5, D5, Ds5, E5, F5, Fs5, G5, Gs5, A5, As5, B5
};

enum { TUNE_NONE, TUNE_VALE, TUNE_CAVE };
extern const tune_note_t *const tunes[];

/* A moment of an effect, as the chip takes it; frames 0 ends it. */
typedef struct {
    uint8_t frames, sweep, duty, volume;
    uint16_t pitch;
} sfx_note_t;

#define NOISE 0xFF /* as sweep: on the noise channel */

/* What is farther down is not cut off by what is above it. */
enum {
    SFX_TEXT, SFX_CURSOR, SFX_SWING, SFX_LIFT, SFX_JUMP, SFX_COIN, SFX_HEART, SFX_CUT, SFX_HIT,
    SFX_BEATEN, SFX_HURT, SFX_SPLASH, SFX_BLAST, SFX_MENU, SFX_DOOR, SFX_SEASON, SFX_START,
    SFX_SECRET, SFX_PRIZE, SFX_DEATH
};
extern const sfx_note_t *const effects[];

#endif
