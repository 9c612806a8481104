; Start-up code, interrupt vectors, the cartridge header and the few routines
; that must be quick enough to finish inside one vertical blank.
;
; The vertical-blank interrupt only wakes the HALT in _frame_sync. During a
; scroll one more comes before screen line 16, where the status bar ends: from
; there on the room is drawn, at the place that split_x and split_y say.

	.module crt0
	.globl	_main
	.globl	_oam_dirty
	.globl	_bg_from
	.globl	_bg_to
	.globl	_bg_map
	.globl	_split_x
	.globl	_oam_next
	.globl	_sprite_dy
	.globl	_sprite_dx
	.globl	_hide_from
	.globl	_hide_to
	.globl	_tile_number
	.globl	_tile_quads
	.globl	_tile_attrs
	.globl	_varied_numbers
	.globl	_scatter
	.globl	_split_y
	.globl	_far_bank
	.globl	_far_len

	BANK_ART  = 3		; must equal BANK_ART in game.h
	LCDC_ROOM = 0x87	; must equal LCDC_REST in hw.h
	STACK_TOP = 0xC5B0	; first byte of the save-file image, which must stay clear
	DMA_CODE  = 0xFF80

	.area	_HEADER (ABS)

	.org	0x0040
	reti

	.org	0x0048
	push	af
line_end:
	ldh	a, (0x41)	; line 15 is done when its horizontal blank begins
	and	a, #3
	jr	NZ, line_end
	ld	a, (_split_x)
	ldh	(0x43), a
	ld	a, (_split_y)
	ldh	(0x42), a
	ld	a, #LCDC_ROOM
	ldh	(0x40), a
	pop	af
	reti

	.org	0x0100
	nop
	jp	start
	; 0x0104-0x014F: filled in by build.py (title, cartridge type, checksums)

	.org	0x0150
start:
	di
	ld	sp, #STACK_TOP
	xor	a, a
	ldh	(0x26), a	; sound off
wait_blank:
	ldh	a, (0x44)
	cp	a, #144
	jr	C, wait_blank
	xor	a, a
	ldh	(0x40), a	; screen off

	; Clear WRAM (bank 1 at 0xD000): every documented variable starts at zero.
	ld	hl, #0xC000
	ld	bc, #0x2000
clear:
	xor	a, a
	ld	(hl+), a
	dec	bc
	ld	a, b
	or	a, c
	jr	NZ, clear

	; OAM DMA must run from HRAM.
	ld	hl, #dma_code
	ld	c, #<DMA_CODE
	ld	b, #(dma_end - dma_code)
copy_dma:
	ld	a, (hl+)
	ldh	(c), a
	inc	c
	dec	b
	jr	NZ, copy_dma

	xor	a, a
	ldh	(0x0F), a
	inc	a
	ldh	(0xFF), a	; vertical blank only
	ld	(0x2000), a	; ROM bank 1, where most of the code lies
	ld	a, #0x0A
	ld	(0x0000), a	; cartridge RAM: the picture that frame_sync sends
	ei
	call	_main
	jr	.

dma_code:
	ld	a, #0xC0
	ldh	(0x46), a
	ld	a, #40
dma_wait:
	dec	a
	jr	NZ, dma_wait
	ret
dma_end:

	.area	_CODE
	.area	_HOME
	.area	_INITIALIZER
	.area	_DATA
	.area	_INITIALIZED
	.area	_BSS
	.area	_HEAP

	.area	_CODE

; void frame_sync(void)
; Sleep until vertical blank, then send what changed: the sprite table, and the
; rows bg_from to bg_to (excluded; 0: none) of the picture in cartridge RAM to
; the background map bg_map. Up to 20 rows and the sprites fit into one blank.
_frame_sync::
	halt
	nop
	ldh	a, (0x44)
	cp	a, #144
	jr	C, _frame_sync	; woken by the split of a scroll
	ld	hl, #_oam_dirty
	ld	a, (hl)
	or	a, a
	jr	Z, no_sprites
	ld	(hl), #0
	call	DMA_CODE
no_sprites:
	ld	hl, #_bg_to
	ld	a, (hl)
	or	a, a
	ret	Z
	ld	(hl), #0
	ld	hl, #_bg_from
	sub	a, (hl)
	add	a, a
	dec	a
	ld	b, a		; blocks of 16 bytes, less one
	ld	a, (hl)
	ld	(hl), #32
	swap	a
	rlca
	ld	c, a
	and	a, #3
	ld	d, a
	ld	a, c
	and	a, #0xE0
	ld	e, a		; de: the first byte's place in a map
	ld	a, #1
	ldh	(0x4F), a
	ld	hl, #0xA400	; attributes to VRAM bank 1 ...
	call	send
	xor	a, a
	ldh	(0x4F), a
	ld	hl, #0xA000	; ... tile numbers to bank 0
send:
	ld	a, h
	or	a, d
	ldh	(0x51), a
	ld	a, e
	ldh	(0x52), a
	ldh	(0x54), a
	ld	a, (_bg_map)
	or	a, d
	ldh	(0x53), a
	ld	a, b
	ldh	(0x55), a
	ret

; void pal_load(const uint8_t *colours)
; 64 bytes of background colours, then 64 of the sprites'. Only right after
; vertical blank began, in a frame that sends no rows.
_pal_load::
	ld	h, d
	ld	l, e
	ld	c, #0x68
	call	pal_half
	ld	c, #0x6A
pal_half:
	ld	a, #0x80
	ldh	(c), a
	inc	c
	ld	b, #8
pal_copy:
	ld	a, (hl+)
	ldh	(c), a
	ld	a, (hl+)
	ldh	(c), a
	ld	a, (hl+)
	ldh	(c), a
	ld	a, (hl+)
	ldh	(c), a
	ld	a, (hl+)
	ldh	(c), a
	ld	a, (hl+)
	ldh	(c), a
	ld	a, (hl+)
	ldh	(c), a
	ld	a, (hl+)
	ldh	(c), a
	dec	b
	jr	NZ, pal_copy
	ret

; void far_copy(uint8_t *to, const uint8_t *from)
; Copy far_len bytes (0: 256) out of ROM bank far_bank. It stands here because
; it must lie in bank 0 itself.
_far_copy::
	ld	a, (_far_bank)
	ld	(0x2000), a
	ld	h, b
	ld	l, c
	ld	a, (_far_len)
	ld	b, a
far_loop:
	ld	a, (hl+)
	ld	(de), a
	inc	de
	dec	b
	jr	NZ, far_loop
	ld	a, #1
	ld	(0x2000), a
	ret

; void wipe(object_t *slot)
; Clear the 64 bytes of a slot.
_wipe::
	ld	h, d
	ld	l, e
	xor	a, a
	ld	b, #8
wipe_some:
	ld	(hl+), a
	ld	(hl+), a
	ld	(hl+), a
	ld	(hl+), a
	ld	(hl+), a
	ld	(hl+), a
	ld	(hl+), a
	ld	(hl+), a
	dec	b
	jr	NZ, wipe_some
	ret

; void art_to_vram(uint8_t *to, const uint8_t *from, uint8_t blocks_less_one)
; Copy blocks of 16 bytes out of the ROM bank of the pictures, by DMA.
_art_to_vram::
	ld	a, #BANK_ART
	ld	(0x2000), a
	ld	a, b
	ldh	(0x51), a
	ld	a, c
	ldh	(0x52), a
	ld	a, d
	ldh	(0x53), a
	ld	a, e
	ldh	(0x54), a
	ldhl	sp, #2
	ld	a, (hl)
	ldh	(0x55), a
	ld	a, #1
	ld	(0x2000), a
	pop	hl		; the return address; the callee drops its arguments
	inc	sp
	jp	(hl)

; void sprite16(uint8_t y, uint8_t x, uint8_t tile, uint8_t attr)
; A 16x16 sprite whose top left corner is at room position (y - 8, x - 8), or a
; little beside it (sprite_dy, sprite_dx). None where hide_from < y < hide_to,
; and none when the table is full.
_sprite16::
	ld	hl, #_sprite_dy
	add	a, (hl)
	add	a, #24		; 16 of the hardware + 16 of the status bar - 8
	ld	b, a
	ld	hl, #_hide_to
	cp	a, (hl)
	jr	NC, sprite_seen
	ld	a, (_hide_from)
	cp	a, b
	jr	C, sprite_done
sprite_seen:
	ld	a, (_sprite_dx)
	add	a, e
	ld	c, a
	ldhl	sp, #2
	ld	a, (hl+)
	ld	d, a
	ld	a, (hl)
	or	a, #0x08	; pictures in VRAM bank 1
	ld	e, a
	ld	hl, #_oam_next
	ld	a, (hl)
	cp	a, #160
	jr	NC, sprite_done
	add	a, #8
	ld	(hl), a
	sub	a, #8
	ld	l, a
	ld	h, #0xC0
	ld	a, b
	ld	(hl+), a
	ld	a, c
	ld	(hl+), a
	bit	5, e
	jr	NZ, sprite_mirrored
	ld	a, d
	ld	(hl+), a
	add	a, #2
	jr	sprite_right
sprite_mirrored:
	ld	a, d
	add	a, #2
	ld	(hl+), a
	ld	a, d
sprite_right:
	ld	d, a
	ld	a, e
	ld	(hl+), a
	ld	a, b
	ld	(hl+), a
	ld	a, c
	add	a, #8
	ld	(hl+), a
	ld	a, d
	ld	(hl+), a
	ld	(hl), e
sprite_done:
	pop	hl
	add	sp, #2
	jp	(hl)

; void room_draw_at(uint8_t pos, uint8_t row, uint8_t col)
; The four 8x8 tiles of a cell, at an even row and column of the background map.
; A floor takes one of its 16 variants, by its place.
_room_draw_at::
	ld	c, a
	ldhl	sp, #2
	ld	d, (hl)
	ld	a, e
	swap	a
	rlca
	ld	l, a
	and	a, #3
	or	a, #0xA0
	ld	b, a
	ld	a, l
	and	a, #0xE0
	or	a, d
	ld	e, a
	ld	d, b		; de: its place in the picture
	ld	h, #0xCF
	ld	l, c
	ld	a, (hl)
	add	a, #<_tile_number
	ld	l, a
	ld	a, #0
	adc	a, #>_tile_number
	ld	h, a
	ld	a, (hl)
	ld	hl, #_varied_numbers
	cp	a, (hl)
	jr	NC, draw_number
	ld	b, a
	ld	a, c
	srl	a
	add	a, c
	ld	hl, #0xCC4C	; wActiveRoom
	add	a, (hl)
	add	a, (hl)
	add	a, (hl)
	and	a, #63
	add	a, #<_scatter
	ld	l, a
	ld	a, #0
	adc	a, #>_scatter
	ld	h, a
	ld	a, (hl)
	and	a, #15
	add	a, b
draw_number:
	ld	l, a
	ld	h, #0
	add	hl, hl
	add	hl, hl
	push	hl
	ld	bc, #_tile_quads
	add	hl, bc
	call	put_four
	inc	d
	inc	d
	inc	d
	inc	d		; 0x400 on: the attributes
	ld	a, e
	sub	a, #33
	ld	e, a
	pop	hl
	ld	bc, #_tile_attrs
	add	hl, bc
	call	put_four
	pop	hl
	inc	sp
	jp	(hl)

put_four:
	ld	a, (hl+)
	ld	(de), a
	inc	e
	ld	a, (hl+)
	ld	(de), a
	ld	a, e
	add	a, #31
	ld	e, a
	ld	a, (hl+)
	ld	(de), a
	inc	e
	ld	a, (hl)
	ld	(de), a
	ret
