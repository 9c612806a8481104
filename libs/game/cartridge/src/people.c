/* Talking: what people say at this point of the story, gifts, and the shop. */
#include "game.h"

/* Their line may depend on the story; the rules are in data/. */
static uint8_t line_now(uint8_t text) {
    const talk_rule_t *p = talk_rules;
    talk_rule_t rule;

    for (;;) {
        read_rooms(&rule, p++, sizeof(rule));
        if (!rule.text)
            return text;
        if (rule.text == text && holds(rule.when, rule.value))
            return rule.next;
    }
}

static void hand_over(uint8_t text) {
    const gift_t *p = gifts;
    gift_t gift;

    for (;;) {
        read_rooms(&gift, p++, sizeof(gift));
        if (!gift.text)
            return;
        if (gift.text == text) {
            *room_flags() |= ROOMFLAG_ITEM;
            give_treasure(gift.treasure, gift.amount);
            return;
        }
    }
}

/* BCD price against three BCD digits. */
static uint8_t can_pay(uint8_t price) {
    return (uint8_t)(wNumRupees >> 8) || (uint8_t)wNumRupees >= price;
}

static void pay(uint8_t price) {
    uint8_t *p = (uint8_t *)&wNumRupees;
    uint8_t i;

    for (i = (price >> 4) * 10 + (price & 15); i; i--) {
        if (p[0] == 0) {
            p[0] = 0x99;
            p[1]--;
        } else if ((p[0] & 0x0F) == 0) {
            p[0] -= 7;
        } else {
            p[0]--;
        }
    }
}

/* What a shop sells more than once comes in packs. */
static uint8_t pack_size(uint8_t treasure) {
    switch (treasure) {
    case TREASURE_BOMBS:
    case TREASURE_EMBER_SEEDS:
        return 0x10;
    case TREASURE_HEART_REFILL:
        return 12;
    }
    return 1;
}

/* var30 treasure, var31 price, var32 text */
static void sell(object_t *n) {
    uint8_t yes;

    text_more = 1;
    yes = text_ask(n->var32);
    text_more = 0;
    if (!yes)
        return;
    if (!can_pay(n->var31)) {
        text_show(TEXT_POOR);
        return;
    }
    pay(n->var31);
    if (n->var30 == TREASURE_HEART_PIECE)
        *room_flags() |= ROOMFLAG_ITEM;
    give_treasure(n->var30, pack_size(n->var30));
    if (pack_size(n->var30) == 1)
        n->enabled = 0;
    scene_changed = 1;
}

void talk(object_t *n) {
    uint8_t text;

    if (!n->enabled)
        return;
    n->state = 2;
    if (n->id == NPC_SHOPITEM) {
        sell(n);
    } else {
        text = line_now(n->var30);
        text_more = 1;
        text_show(text);
        text_more = 0;
        hand_over(text);
    }
    wTextIsActive = 0;
    n->state = 1;
}
