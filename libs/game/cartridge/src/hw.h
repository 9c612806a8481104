/* Hardware registers used by the game. */
#ifndef HW_H
#define HW_H

#include <stdint.h>

#define HW8(a) (*(volatile uint8_t *)(a))

#define rP1   HW8(0xFF00) /* joypad */
#define rLCDC HW8(0xFF40)
#define rSCY  HW8(0xFF42)
#define rSCX  HW8(0xFF43)
#define rIF   HW8(0xFF0F) /* interrupts that wait */
#define rSTAT HW8(0xFF41)
#define rLYC  HW8(0xFF45) /* line at which rSTAT interrupts */
#define rIE   HW8(0xFFFF) /* interrupts that are taken */
#define rVBK  HW8(0xFF4F) /* video memory bank */
#define rSVBK HW8(0xFF70) /* work RAM bank at 0xD000 */

/* Sound chip: written, never read */
#define rNR10 HW8(0xFF10)
#define rNR11 HW8(0xFF11)
#define rNR12 HW8(0xFF12)
#define rNR13 HW8(0xFF13)
#define rNR14 HW8(0xFF14)
#define rNR21 HW8(0xFF16)
#define rNR22 HW8(0xFF17)
#define rNR23 HW8(0xFF18)
#define rNR24 HW8(0xFF19)
#define rNR30 HW8(0xFF1A)
#define rNR32 HW8(0xFF1C)
#define rNR33 HW8(0xFF1D)
#define rNR34 HW8(0xFF1E)
#define rNR42 HW8(0xFF21)
#define rNR43 HW8(0xFF22)
#define rNR44 HW8(0xFF23)
#define rNR50 HW8(0xFF24)
#define rNR51 HW8(0xFF25)
#define rNR52 HW8(0xFF26)
#define WAVE_RAM ((volatile uint8_t *)0xFF30)

#define LCDC_ON    0x80
#define LCDC_OBJ16 0x04
#define LCDC_OBJ   0x02
#define LCDC_BG    0x01
#define LCDC_MAP1  0x08 /* background map 0x9C00 */
#define LCDC_REST  (LCDC_ON | LCDC_OBJ16 | LCDC_OBJ | LCDC_BG)
#define LCDC_BAR   (LCDC_ON | LCDC_OBJ16 | LCDC_BG | LCDC_MAP1) /* lines 0-15 of a scroll */

#define INT_VBLANK 0x01
#define INT_STAT   0x02
#define STAT_LYC   0x40

/* Attribute bits of sprites and background tiles */
#define OBJ_PALETTE 0x07
#define OBJ_BANK1 0x08
#define OBJ_FLIPX 0x20
#define OBJ_FLIPY 0x40

#endif
