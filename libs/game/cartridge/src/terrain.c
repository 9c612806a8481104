/* Water and holes, and jumping over them. */
#include "game.h"

#define JUMP_FRAMES 28
#define SINK_FRAMES 24

uint8_t air, sinking;

static void sink(void) {
    sinking = SINK_FRAMES;
    sfx(SFX_SPLASH);
    lk_state = LINK_RESPAWNING;
    lk_collision = 0;
    lk_animMode = wActiveTileType == TYPE_HOLE ? 0x0D : 0x0A;
    carry_drop();
    scene_changed = 1;
}

/* The player stands on another tile: does it carry him? */
void terrain_step(void) {
    uint8_t swims = 0;

    if (wActiveTileType == TYPE_HOLE) {
        sink();
    } else if (wActiveTileType == TYPE_WATER) {
        if (has_treasure(TREASURE_FLIPPERS))
            swims = 1;
        else
            sink();
    }
    if (swims && !wLinkSwimmingState)
        carry_drop();
    wLinkSwimmingState = swims;
    lk_animMode = sinking ? lk_animMode : swims ? 0x0B : 0x10;
}

/* Arrived in a room: on the ground, or in its water. */
void terrain_reset(void) {
    air = sinking = 0;
    wLinkInAir = 0;
    lk_z = 0;
    lk_state = LINK_NORMAL;
    lk_collision = 0x80;
    terrain_step();
}

/* Gone under: back to where the room was entered, half a heart poorer. */
void sink_update(void) {
    scene_changed = 1;
    if (--sinking)
        return;
    lk_y = wLinkLocalRespawnY;
    lk_x = wLinkLocalRespawnX;
    player_walls();
    player_tile();
    terrain_reset();
    wLinkHealth = wLinkHealth > 2 ? wLinkHealth - 2 : 0;
    lk_invinc = 60;
}

void jump(void) {
    if (air || wLinkSwimmingState || wLinkGrabState)
        return;
    air = JUMP_FRAMES;
    sfx(SFX_JUMP);
    wLinkInAir = 1;
}

/* A parabola 14 px high. The tile under the player counts again when he lands. */
void jump_update(void) {
    scene_changed = 1;
    air--;
    lk_z = -(uint8_t)((air * (uint8_t)(JUMP_FRAMES - air)) / 14);
    wLinkInAir = air ? 2 : 0;
    if (!air)
        player_tile();
}
