/* What the source files of the game offer each other. */
#ifndef GAME_H
#define GAME_H

#include "hw.h"
#include "ram.h"
#include "art.h"
#include "rooms.h"
#include "texts.h"
#include "sounds.h"
#include "world.h"

/* crt0.s */
void frame_sync(void);
void pal_load(const uint8_t *colours);
void art_to_vram(uint8_t *to, const uint8_t *from, uint8_t blocks_less_one);
void wipe(object_t *slot);
void far_copy(uint8_t *to, const uint8_t *from);

/* far.c: rooms, texts and pictures lie in ROM banks of their own */
#define BANK_ROOMS 2
#define BANK_ART   3
extern uint8_t far_bank, far_len;
void read_rooms(void *to, const void *from, uint8_t n);
void read_art(void *to, const void *from, uint8_t n);
#ifdef WORLD
#define BANK_TEXTS 4
extern uint8_t data_bank; /* of the data of the room that is read */
void read_data(void *to, const void *from, uint8_t n);
void read_texts(void *to, const void *from, uint8_t n);
void world_init(void);
#else
#define read_data  read_rooms
#define read_texts read_rooms
#endif

/* video.c: background, sprite table, fades */
#define ATTR_TEXT 0x0F /* palette 7, tiles in VRAM bank 1 */
#define MAP_SCREEN 0x98 /* high byte of the background map that is shown ... */
#define MAP_BAR    0x9C /* ... and of the one that shows the status bar during a scroll */
extern uint8_t oam_dirty, bg_from, bg_to, bg_map;
extern uint8_t split_x, split_y;
extern uint8_t hide_from, hide_to; /* screen rows where no sprite is drawn */
void video_init(void);
extern uint8_t motions; /* which kinds of tiles move in this room */
#define MOTION_WATER  0x01
#define MOTION_FIRE   0x02
#define MOTION_PLANTS 0x04
extern uint8_t motion_clock;
void motions_step(void);
void bg_changed(uint8_t from, uint8_t to);
void bg_put(uint8_t row, uint8_t col, uint8_t tile, uint8_t attr);
void put_text(uint8_t row, uint8_t col, const char *s);
void put_number(uint8_t row, uint8_t col, uint8_t bcd);
void put_digit(uint8_t row, uint8_t col, uint8_t digit);
void clear_rows(uint8_t from, uint8_t to);
void sprite_begin(void);
void sprite16(uint8_t y, uint8_t x, uint8_t tile, uint8_t attr);
void sprite_end(void);
extern uint8_t sprite_dy, sprite_dx; /* added to every place */
void sprite_objects(void);
void sprites_keep(void);
void sprites_scroll(uint8_t dir, uint8_t left, uint8_t step);
void fade_out(void);
void fade_in(void);

/* sound.c */
extern uint8_t music_wait, sfx_wait;
void sound_init(void);
void music_play(uint8_t tune);
void music_of_place(void);
void music_step(void);
void sfx(uint8_t which);
void sfx_step(void);

/* input.c */
extern uint8_t keys_seen;
void frame(void); /* one emulated frame: wait, poll the pad, count */
void wait_frames(uint8_t n);

/* rng.c */
uint8_t rng(void);

/* room.c: tables to buffers, drawing */
#define MAX_OBJECTS 24
extern room_object_t room_objects[MAX_OBJECTS + 1]; /* those of the present room */
extern char room_name[14];
extern uint8_t dungeon_cells[8]; /* a bit for each cell of the 8x8 grid with a room */
extern uint8_t room_beyond[4]; /* is there a room over this edge? */
uint8_t *room_flags(void);
void room_load(uint8_t group, uint8_t id);
void room_draw(void);
void room_index(void);
void room_draw_cell(uint8_t pos);
void room_draw_at(uint8_t pos, uint8_t row, uint8_t col);
void room_draw_rows(uint8_t from, uint8_t to);
void room_set_tile(uint8_t pos, uint8_t index);
void room_change(uint8_t pos, uint8_t index);
const room_object_t *room_object_at(uint8_t kind, uint8_t pos);
uint8_t room_neighbour(uint8_t dir);
uint8_t solid_at(uint8_t y, uint8_t x);
void dungeon_layout_init(void);
uint8_t room_hides_treasure(uint8_t group, uint8_t id);
uint8_t holds(uint8_t when, uint8_t value);

/* tiles.c: what a tile is now, and what it leaves */
uint8_t tile_now(uint8_t index, uint8_t pos, uint8_t flags);
uint8_t tile_under(uint8_t index);
uint8_t room_floor(void);
uint8_t door_flag(uint8_t pos);
void tiles_by_season(void);

/* travel.c: edge scrolls and warps */
extern uint8_t arrivals; /* counts rooms entered, so that a change can be seen */
void room_scroll(uint8_t dir);
void room_warp(uint8_t group, uint8_t id, uint8_t pos);
void season_turn(void);

/* player.c */
extern uint8_t swing; /* frames left of the tool in the player's hand */
extern uint8_t air;   /* frames left of a jump */
extern uint8_t lifted_sprite, lifted_attr; /* shown over the head; 0xFF none */
extern const int8_t step_y[4], step_x[4];
void player_update(void);
void player_walls(void);
void player_tile(void);
void player_draw(void);
extern uint8_t walk_clock; /* moves his legs */
void player_hurt(uint8_t quarters, uint8_t angle);
uint8_t facing_pos(void);
/* terrain.c: water, holes, jumps */
extern uint8_t sinking;
void terrain_step(void);
void terrain_reset(void);
void sink_update(void);
void jump(void);
void jump_update(void);
/* action.c: what A does */
void action_press(uint8_t item, uint8_t talks);
void action_push(void);
/* tools.c: blade, bombs, seeds, shovel, rod, feather */
void tool_use(uint8_t item);
void tools_update(void);
void tools_draw(void);
void tools_clear(void);
/* carry.c: lifting and throwing */
uint8_t lift(uint8_t pos);
void throw_carried(void);
void carry_drop(void);
void carry_update(void);
void carry_draw(void);
/* treasure.c */
uint8_t has_treasure(uint8_t t);
void give_treasure(uint8_t t, uint8_t amount);
void bcd_add(uint8_t *to, uint8_t amount, uint8_t most);
void bcd_less(uint8_t *from, uint8_t amount);
uint8_t treasure_sprite(uint8_t t);
uint8_t treasure_attr(uint8_t t);
/* death.c, ending.c */
void player_die(void);
void ending_run(void);

/* puzzle.c: buttons, blocks, levers, shutters */
extern uint8_t puzzle_changed;
void puzzle_enter(void);
void puzzle_check(void);
void buttons_update(void);
void lever_flip(uint8_t pos);
void shutters_open(void);
uint8_t block_push(uint8_t pos);
void block_update(void);
uint8_t chest_hidden(const room_object_t *o);

/* people.c: talking, gifts, the shop */
void talk(object_t *n);
/* scene.c */
void scene_check(void);

/* objects.c, drops.c, enemies.c, shots.c, boss.c */
extern uint8_t scene_changed; /* something moved: rebuild the sprite table */
extern uint8_t npc_top, enemy_top, part_top;
void objects_clear(void);
void objects_spawn(const room_object_t *o);
void objects_update(void);
void objects_draw(void);
object_t *spawn_npc(uint8_t id, uint8_t pos);
object_t *part_new(uint8_t id, uint8_t y, uint8_t x);
object_t *enemy_new(uint8_t id, uint8_t pos);
void treasure_spawn(uint8_t pos, uint8_t treasure, uint8_t flag, uint8_t amount);
void drop_spawn(uint8_t y, uint8_t x, uint8_t subid, uint8_t flag);
void drop_random(uint8_t y, uint8_t x);
void drop_update(object_t *p);
void drop_draw(object_t *p);
enum { RESTING = 1, MOVING, DYING, RUNNING, SWAYING }; /* states of an enemy */
void enemy_update(object_t *e);
void enemy_draw(object_t *e);
/* White, every other moment after a hit. */
#define PALETTE_WHITE 6
#define FLASH(attr) (((attr) & ~OBJ_PALETTE) | PALETTE_WHITE)
void enemy_turn(object_t *e, uint8_t dir);
void enemy_hit(object_t *e, uint8_t damage, uint8_t angle);
void enemies_hit_near(uint8_t y, uint8_t x, uint8_t r, uint8_t damage);
uint8_t towards_player(object_t *e);
void shot_spawn(uint8_t y, uint8_t x, uint8_t angle);
void shot_update(object_t *p);
void boss_spawn(const room_object_t *o);
void boss_update(object_t *e);
void boss_draw(object_t *e);
void boss_beaten(object_t *e);
uint8_t near(uint8_t a, uint8_t b, uint8_t r);
#define PIXEL_Y(pos) (((pos) & 0xF0) + 8)
#define PIXEL_X(pos) ((uint8_t)((pos) << 4) + 8)

/* hud.c, text.c, menu.c, title.c */
void hud_update(void);
void hud_redraw(void);
void rupees_add(uint8_t bcd);
uint8_t item_icon(uint8_t item);
void frame_line(uint8_t row, uint8_t col, uint8_t width, uint8_t left);
extern uint8_t text_more; /* another text may follow: until then wTextIsActive stays */
void text_show(uint8_t id);
uint8_t text_ask(uint8_t id); /* 1 = yes */
void menu_run(void);
void title_run(void);
void scene_draw(void); /* main.c: sprites of the current scene */

#endif
