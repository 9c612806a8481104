/* What is on the buttons: blade, rod, shovel, bombs, ember seeds, feather. */
#include "game.h"

#define SWING_FRAMES 10
#define FUSE_FRAMES  90
#define BLAST_FRAMES 16
#define FLAME_FRAMES 30

enum { FUSE = 1, BLAST };

static void clear_tile(uint8_t pos, uint8_t flag) {
    *room_flags() |= flag;
    room_change(pos, tile_under(wRoomLayout[pos]));
}

static void cut_bush(uint8_t pos) {
    sfx(SFX_CUT);
    clear_tile(pos, 0);
    drop_random(PIXEL_Y(pos), PIXEL_X(pos));
}

static void hold_out(uint8_t item) {
    object_t *w = SLOT_WEAPON;

    swing = SWING_FRAMES;
    w->enabled = 1;
    w->id = item;
    w->direction = lk_direction;
    w->angle = (uint8_t)(lk_direction << 3);
    w->yh = lk_y + step_y[lk_direction] * 12;
    w->xh = lk_x + step_x[lk_direction] * 12;
    w->damage = wSwordLevel;
    wLinkUsingItem1 = 1;
    wLinkTurningDisabled = 1;
    scene_changed = 1;
}

static void blade(uint8_t pos) {
    hold_out(ITEM_SWORD);
    sfx(SFX_SWING);
    switch (wRoomLayout[pos]) {
    case TILE_BUSH:
        cut_bush(pos);
        break;
    case TILE_ORB_OFF:
    case TILE_ORB_ON:
        lever_flip(pos);
        break;
    }
}

static void dig(uint8_t pos) {
    const room_object_t *o = room_object_at(O_DIG, pos);

    hold_out(ITEM_SHOVEL);
    sfx(SFX_CUT);
    if (wRoomLayout[pos] == TILE_DRIFT) {
        clear_tile(pos, 0);
    } else if (wRoomLayout[pos] == TILE_SOIL) {
        room_change(pos, TILE_DUG);
        if (!o)
            drop_random(PIXEL_Y(pos), PIXEL_X(pos));
        else if (!(*room_flags() & o->b))
            treasure_spawn(pos, o->a, o->b, o->c);
    }
}

static void set_bomb(void) {
    object_t *b = SLOT_BOMB;

    if (b->enabled || !wNumBombs)
        return;
    bcd_less(&wNumBombs, 1);
    b->enabled = 1;
    b->id = ITEM_BOMB;
    b->state = FUSE;
    b->counter1 = FUSE_FRAMES;
    b->yh = lk_y + step_y[lk_direction] * 10;
    b->xh = lk_x + step_x[lk_direction] * 10;
    scene_changed = 1;
}

static void blow_up_tile(uint8_t pos) {
    if (pos >= 0x80 || (pos & 0x0F) >= 10)
        return;
    switch (wRoomLayout[pos]) {
    case TILE_BUSH:
        clear_tile(pos, 0);
        break;
    case TILE_CRACKED_ROCK:
        clear_tile(pos, ROOMFLAG_40);
        break;
    case TILE_CRACKED_CLIFF:
        *room_flags() |= ROOMFLAG_80;
        room_change(pos, TILE_CAVE_MOUTH);
        break;
    case TILE_CRACKED_WALL:
        *room_flags() |= door_flag(pos);
        room_change(pos, TILE_CAVE_FLOOR);
        break;
    }
}

/* The bomb's own tile and the eight around it. */
static void explode(object_t *b) {
    uint8_t pos = (b->yh & 0xF0) | (b->xh >> 4);
    uint8_t row, col;

    b->state = BLAST;
    sfx(SFX_BLAST);
    b->counter1 = BLAST_FRAMES;
    for (row = 0; row < 3; row++)
        for (col = 0; col < 3; col++)
            blow_up_tile(pos - 0x11 + (uint8_t)(row << 4) + col);
    enemies_hit_near(b->yh, b->xh, 24, 4);
    if (near(b->yh, lk_y, 20) && near(b->xh, lk_x, 20))
        player_hurt(4, lk_y < b->yh ? 0x00 : 0x10);
}

static void bomb_update(object_t *b) {
    scene_changed = 1;
    if (--b->counter1)
        return;
    if (b->state == FUSE)
        explode(b);
    else
        b->enabled = 0;
}

/* An ember seed burns on the tile in front of the player. */
static void set_fire(uint8_t pos) {
    object_t *f = SLOT_FLAME;

    if (f->enabled || !wNumEmberSeeds)
        return;
    bcd_less(&wNumEmberSeeds, 1);
    f->enabled = 1;
    f->id = TREASURE_EMBER_SEEDS;
    f->state = 1;
    f->counter1 = FLAME_FRAMES;
    f->yh = PIXEL_Y(pos);
    f->xh = PIXEL_X(pos);
    scene_changed = 1;
    switch (wRoomLayout[pos]) {
    case TILE_BUSH:
        cut_bush(pos);
        break;
    case TILE_DRYBUSH:
        clear_tile(pos, ROOMFLAG_80);
        break;
    case TILE_TORCH_OFF:
        room_change(pos, TILE_TORCH);
        wNumTorchesLit++;
        puzzle_changed = 1;
        break;
    }
    enemies_hit_near(f->yh, f->xh, 14, 2);
}

void tool_use(uint8_t item) {
    uint8_t pos = facing_pos(), inside = pos < 0x80 && (pos & 0x0F) < 10;

    if (!inside) /* beyond the edge there is nothing; the corner of the room has no effects */
        pos = wActiveTilePos;
    switch (item) {
    case ITEM_SWORD:
        blade(pos);
        break;
    case ITEM_SHOVEL:
        dig(pos);
        break;
    case ITEM_ROD:
        hold_out(ITEM_ROD);
        if (wRoomLayout[pos] == TILE_STUMP && wActiveGroup == 0)
            season_turn();
        break;
    case ITEM_BOMB:
        set_bomb();
        break;
    case ITEM_SATCHEL:
        set_fire(pos);
        break;
    case ITEM_FEATHER:
        jump();
        break;
    }
}

void tools_clear(void) {
    SLOT_WEAPON->enabled = 0;
    SLOT_BOMB->enabled = 0;
    SLOT_FLAME->enabled = 0;
    swing = 0;
    wLinkUsingItem1 = wLinkTurningDisabled = 0;
}

static void flame_update(object_t *f) {
    scene_changed = 1;
    if (--f->counter1 == 0)
        f->enabled = 0;
}

/* The slots are passed on: SDCC 4.2 mixes up the fields of a pointer that is a constant. */
void tools_update(void) {
    if (SLOT_BOMB->enabled)
        bomb_update(SLOT_BOMB);
    if (SLOT_FLAME->enabled)
        flame_update(SLOT_FLAME);
}

void tools_draw(void) {
    object_t *b = SLOT_BOMB, *f = SLOT_FLAME;

    if (b->enabled) {
        if (b->state == BLAST)
            sprite16(b->yh, b->xh, SPR_BLAST, 3);
        else
            sprite16(b->yh, b->xh, SPR_BOMB, b->counter1 < 30 && (b->counter1 & 4) ? 5 : 6);
    }
    if (f->enabled)
        sprite16(f->yh, f->xh, SPR_FLAME, f->counter1 & 4 ? 3 | OBJ_FLIPX : 3);
}
