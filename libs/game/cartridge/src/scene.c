/* The season spirit comes down, speaks, gives something and leaves. */
#include "game.h"

/* Glide between two heights, 2 px a frame. */
static void glide(object_t *spirit, uint8_t to) {
    int8_t step = spirit->yh < to ? 2 : -2;

    while (spirit->yh != to) {
        spirit->yh += step;
        scene_draw();
        frame();
    }
}

static void play(const room_object_t *o) {
    object_t *spirit = spawn_npc(NPC_SPIRIT, o->pos);
    uint8_t ground = PIXEL_Y(o->pos);

    if (!spirit)
        return;
    wDisabledObjects = 0x81;
    wCutsceneIndex = 3;
    spirit->yh = 8;
    lk_direction = DIR_UP;
    glide(spirit, ground);
    wait_frames(20);
    text_show(o->a);
    if (o->b)
        give_treasure(o->b, o->c);
    glide(spirit, 8);
    spirit->enabled = 0;
    wCutsceneIndex = 1;
    wDisabledObjects = 0;
    wKeysJustPressed = 0;
    scene_changed = 1;
}

/* Called when a room has been entered. */
void scene_check(void) {
    const room_object_t *o;

    for (o = room_objects; o->kind; o++)
        if (o->kind == O_SCENE && !(*room_flags() & ROOMFLAG_40)) {
            *room_flags() |= ROOMFLAG_40;
            play(o);
            return;
        }
}
