/* Hardware registers used by the game. */
#ifndef HW_H
#define HW_H

#include <stdint.h>

#define HW8(a) (*(volatile uint8_t *)(a))

#define rP1   HW8(0xFF00) /* joypad */
#define rLCDC HW8(0xFF40)
#define rSCY  HW8(0xFF42)
#define rSCX  HW8(0xFF43)
#define rVBK  HW8(0xFF4F) /* video memory bank */

#define LCDC_ON    0x80
#define LCDC_BG8000 0x10 /* background tiles counted from 0x8000, like sprites */
#define LCDC_OBJ16 0x04
#define LCDC_OBJ   0x02
#define LCDC_BG    0x01

/* Sprite attribute bits */
#define OBJ_BANK1 0x08
#define OBJ_FLIPX 0x20
#define OBJ_FLIPY 0x40

#endif
