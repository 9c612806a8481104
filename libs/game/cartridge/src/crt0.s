; Start-up code, interrupt vectors, the cartridge header and the few routines
; that must be quick enough to finish inside one vertical blank.
;
; Only the vertical-blank interrupt is enabled, and its handler does nothing:
; its whole purpose is to wake the HALT in _frame_sync.

	.module crt0
	.globl	_main
	.globl	_oam_dirty
	.globl	_vq_len
	.globl	_far_bank
	.globl	_far_len

	VQ_BUF    = 0xC300	; must equal VQ_BUF in ram.h
	STACK_TOP = 0xC5B0	; first byte of the save-file image, which must stay clear
	DMA_CODE  = 0xFF80

	.area	_HEADER (ABS)

	.org	0x0040
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
; Sleep until vertical blank, then send the sprite table (if it changed) and
; the queued background tiles to video memory. A full queue leaves no time for
; the sprites in the same blank; they then follow in the next one.
_frame_sync::
	halt
	nop
	ld	a, (_vq_len)
	cp	a, #28
	jr	NC, no_dma
	ld	hl, #_oam_dirty
	ld	a, (hl)
	or	a, a
	jr	Z, no_dma
	ld	(hl), #0
	call	DMA_CODE
no_dma:
	ld	a, (_vq_len)
	or	a, a
	ret	Z
	ld	b, a
	ld	de, #VQ_BUF
flush:
	ld	a, (de)
	inc	e
	ld	l, a
	ld	a, (de)
	inc	e
	ld	h, a
	xor	a, a
	ldh	(0x4F), a	; tile number in VRAM bank 0 ...
	ld	a, (de)
	inc	e
	ld	(hl), a
	ld	a, #1
	ldh	(0x4F), a	; ... attributes in bank 1
	ld	a, (de)
	inc	e
	ld	(hl), a
	dec	b
	jr	NZ, flush
	xor	a, a
	ldh	(0x4F), a
	ld	(_vq_len), a
	ret

; void pal_load_bg(const uint8_t *colours), void pal_load_obj(...)
; 64 bytes each; both together would not fit into one vertical blank.
_pal_load_bg::
	ld	c, #0x68
	jr	pal_half
_pal_load_obj::
	ld	c, #0x6A
pal_half:
	ld	a, #0x80
	ldh	(c), a
	inc	c
	ld	b, #64
pal_copy:
	ld	a, (de)
	inc	de
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
