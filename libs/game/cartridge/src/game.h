/* What the source files of the game offer each other. */
#ifndef GAME_H
#define GAME_H

#include "hw.h"
#include "ram.h"
#include "art.h"
#include "rooms.h"
#include "texts.h"

/* crt0.s */
void frame_sync(void);
void pal_load_bg(const uint8_t *colours);
void pal_load_obj(const uint8_t *colours);

/* video.c: background queue, sprite table, fades */
#define ATTR_TEXT 0x0F /* palette 7, tiles in VRAM bank 1 */
extern uint8_t oam_dirty, vq_len;
extern uint8_t hide_from, hide_to; /* screen rows where no sprite is drawn */
void video_init(void);
void vq_put(uint8_t row, uint8_t col, uint8_t tile, uint8_t attr);
void put_text(uint8_t row, uint8_t col, const char *s);
void put_number(uint8_t row, uint8_t col, uint8_t bcd);
void clear_rows(uint8_t from, uint8_t to);
void sprite_begin(void);
void sprite16(uint8_t y, uint8_t x, uint8_t tile, uint8_t attr);
void sprite_end(void);
void fade_out(void);
void fade_in(void);

/* input.c */
extern uint8_t keys_seen;
void frame(void); /* one emulated frame: wait, poll the pad, count */

/* rng.c */
uint8_t rng(void);

/* room.c: tables to buffers, drawing, scrolling and warps */
extern const room_t *room;
const room_t *room_find(uint8_t group, uint8_t id);
uint8_t *room_flags(void);
void room_load(uint8_t group, uint8_t id);
void room_draw(void);
void room_draw_cell(uint8_t pos);
void room_draw_rows(uint8_t from, uint8_t to);
void room_set_tile(uint8_t pos, uint8_t index);
const room_object_t *room_object_at(uint8_t kind, uint8_t pos);
uint8_t room_neighbour(uint8_t dir);
uint8_t solid_at(uint8_t y, uint8_t x);
/* travel.c: edge scrolls and warps */
void room_scroll(uint8_t dir);
void room_warp(uint8_t group, uint8_t id, uint8_t pos);

/* player.c */
extern uint8_t swing; /* frames left of the current sword swing */
extern const int8_t step_y[4], step_x[4];
void player_update(void);
void player_walls(void);
void player_tile(void);
void player_draw(void);
void player_hurt(uint8_t quarters, uint8_t angle);
uint8_t facing_pos(void);
/* action.c: what A does */
void action_press(uint8_t item);
void action_push(void);
void give_treasure(uint8_t treasure);
/* death.c */
void player_die(void);

/* objects.c, enemies.c */
extern uint8_t scene_changed; /* something moved: rebuild the sprite table */
void objects_clear(void);
void objects_spawn(const room_object_t *o);
void objects_update(void);
void objects_draw(void);
void drop_spawn(uint8_t y, uint8_t x, uint8_t subid, uint8_t flag);
void drop_random(uint8_t y, uint8_t x);
void enemy_update(object_t *e);
void enemy_draw(object_t *e);
uint8_t near(uint8_t a, uint8_t b, uint8_t r);

/* hud.c, text.c, menu.c, title.c */
void hud_update(void);
void hud_redraw(void);
void rupees_add(uint8_t bcd);
void frame_line(uint8_t row, uint8_t col, uint8_t width, uint8_t left);
void text_show(uint8_t id);
void menu_run(void);
void title_run(void);
void scene_draw(void); /* main.c: sprites of the current scene */

#endif
