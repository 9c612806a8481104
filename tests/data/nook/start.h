/* Where a new game starts, and where its story ends. */
#ifndef START_H
#define START_H

#define START_GROUP 0
#define START_ROOM  0x33
#define START_POS   0x54

#endif
