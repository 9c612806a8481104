"""What ids mean in Oracle of Seasons: names of the constants of the disassembly, in plain words.

The embedded game gives the same ids to treasures, items and drops; its enemies and people look like
those of the same id only by their behaviour.
"""

TREASURE_NAMES: dict[int, str] = {
    0x01: "shield", 0x02: "punch", 0x03: "bombs", 0x04: "cane of somaria", 0x05: "sword",
    0x06: "boomerang", 0x07: "Rod of Seasons", 0x08: "magnetic gloves", 0x09: "switch hook helper",
    0x0A: "switch hook", 0x0B: "switch hook chain", 0x0C: "biggoron sword", 0x0D: "bombchus",
    0x0E: "flute", 0x0F: "shooter", 0x11: "harp", 0x13: "slingshot", 0x15: "shovel",
    0x16: "power bracelet", 0x17: "feather", 0x19: "seed satchel", 0x1D: "minecart collision",
    0x1E: "fool's ore", 0x20: "ember seeds", 0x21: "scent seeds", 0x22: "pegasus seeds",
    0x23: "gale seeds", 0x24: "mystery seeds", 0x25: "tune of echoes", 0x26: "tune of currents",
    0x27: "tune of ages", 0x28: "rupees", 0x29: "heart refill", 0x2A: "heart container",
    0x2B: "heart piece", 0x2C: "ring box", 0x2D: "ring", 0x2E: "flippers", 0x2F: "potion",
    0x30: "small key", 0x31: "boss key", 0x32: "compass", 0x33: "map", 0x34: "gasha seed",
    0x36: "maku seed", 0x37: "ore chunks", 0x40: "essence", 0x41: "trade item", 0x42: "gnarled key",
    0x43: "floodgate key", 0x44: "dragon key", 0x45: "star ore", 0x46: "ribbon",
    0x47: "spring banana", 0x48: "Ricky's gloves", 0x49: "bomb flower", 0x4A: "pirate's bell",
    0x4B: "treasure map", 0x4C: "round jewel", 0x4D: "pyramid jewel", 0x4E: "square jewel",
    0x4F: "X-shaped jewel", 0x50: "red ore", 0x51: "blue ore", 0x52: "hard ore",
    0x53: "member's card", 0x54: "master's plaque",
}  # fmt: skip
"""Bit in wObtainedTreasureFlags → what it is."""

_TOOLS_END = 0x20
ITEM_NAMES: dict[int, str] = {
    **{number: name for number, name in TREASURE_NAMES.items() if number < _TOOLS_END},
    0x03: "bomb",
    0x1A: "dust",
}
"""Item id in the inventory → what it is."""

DROP_NAMES: dict[int, str] = {
    0x00: "fairy", 0x01: "heart", 0x02: "1 rupee", 0x03: "5 rupees", 0x04: "bombs",
    0x05: "ember seeds", 0x06: "scent seeds", 0x07: "pegasus seeds", 0x08: "gale seeds",
    0x09: "mystery seeds", 0x0C: "1 ore chunk", 0x0D: "10 ore chunks", 0x0E: "50 ore chunks",
    0x0F: "100 rupees",
}  # fmt: skip
"""Subid of an item drop (part 0x01) → what it is."""

ENEMY_NAMES: dict[int, str] = {
    0x01: "merged twinrova", 0x02: "general onox", 0x03: "twinrova", 0x04: "ganon",
    0x05: "dragon onox", 0x06: "gleeok", 0x07: "king moblin", 0x08: "river zora", 0x09: "octorok",
    0x0A: "boomerang moblin", 0x0B: "leever", 0x0C: "arrow moblin", 0x0D: "lynel",
    0x0E: "blade trap", 0x0F: "rolling spike trap", 0x10: "rope", 0x11: "pokey", 0x12: "gibdo",
    0x13: "spark", 0x14: "spiked beetle", 0x15: "bubble", 0x16: "beamos", 0x17: "ghini",
    0x18: "buzzblob", 0x19: "whisp", 0x1A: "sand crab", 0x1B: "spiny beetle", 0x1C: "iron mask",
    0x1D: "armos", 0x1E: "piranha", 0x20: "masked moblin", 0x21: "arrow darknut",
    0x22: "arrow shrouded stalfos", 0x23: "pols voice", 0x24: "like like", 0x25: "goponga flower",
    0x27: "deku scrub", 0x28: "wallmaster", 0x29: "podoboo", 0x2A: "giant blade trap",
    0x2B: "flame trap", 0x2C: "cheep cheep", 0x2D: "podoboo tower", 0x2E: "thwimp", 0x2F: "thwomp",
    0x30: "tektite", 0x31: "stalfos", 0x32: "keese", 0x33: "baby cucco", 0x34: "zol",
    0x35: "floormaster", 0x36: "cucco", 0x37: "butterfly", 0x38: "great fairy", 0x39: "fire keese",
    0x3A: "water tektite", 0x3B: "giant cucco", 0x3C: "magunesu", 0x3D: "sword moblin",
    0x3E: "peahat", 0x40: "wizzrobe", 0x41: "crow", 0x43: "gel", 0x45: "pincer", 0x46: "gohma gel",
    0x47: "mothula child", 0x48: "sword darknut", 0x49: "sword shrouded stalfos",
    0x4A: "sword masked moblin", 0x4B: "ball and chain soldier", 0x4C: "blue crow",
    0x4D: "hardhat beetle", 0x4E: "arm mimic", 0x4F: "moldorm", 0x50: "fireball shooter",
    0x51: "beetle", 0x52: "flying tile", 0x53: "dragonfly", 0x54: "blaino", 0x55: "mini digdogger",
    0x56: "Maku tree bubble", 0x58: "bush or rock", 0x59: "item drop producer",
    0x5A: "seeds on tree", 0x5B: "sand puff", 0x5C: "wall flame shooter", 0x5D: "twinrova ice",
    0x5E: "twinrova bat", 0x5F: "blainos gloves", 0x60: "ganon revival cutscene",
    0x70: "brother goriyas", 0x71: "facade", 0x72: "omuai", 0x73: "agunima", 0x74: "syger",
    0x75: "vire", 0x76: "poe sister 2", 0x77: "frypolar", 0x78: "aquamentus", 0x79: "dodongo",
    0x7A: "mothula", 0x7B: "gohma", 0x7C: "digdogger", 0x7D: "manhandla", 0x7E: "poe sister 1",
    0x7F: "medusa head",
}  # fmt: skip
"""Enemy id → what it is."""

PART_NAMES: dict[int, str] = {
    0x01: "item drop", 0x02: "enemy destroyed", 0x03: "orb", 0x04: "boss death explosion",
    0x05: "switch", 0x06: "lightable torch", 0x07: "shadow", 0x08: "dark room handler",
    0x09: "button", 0x0A: "holes floortrap", 0x0B: "moving orb", 0x0C: "bridge spawner",
    0x0D: "slingshot eye statue", 0x0E: "detection helper", 0x0F: "respawnable bush",
    0x10: "seed on tree", 0x11: "volcano rock", 0x12: "burning enemy", 0x13: "owl statue",
    0x14: "item from maple", 0x15: "item from maple 2", 0x17: "gasha tree",
    0x18: "octorok projectile", 0x19: "zora fire", 0x1A: "enemy arrow", 0x1B: "lynel beam",
    0x1C: "stalfos bone", 0x1D: "enemy sword", 0x1E: "deku scrub projectile",
    0x1F: "wizzrobe projectile", 0x20: "fire", 0x21: "moblin boomerang", 0x22: "cucco attacker",
    0x23: "falling fire", 0x24: "shooting dragon head", 0x25: "wall arrow shooter",
    0x26: "wall flame shooters flames", 0x27: "lightning", 0x28: "small fairy", 0x29: "beam",
    0x2A: "spiked ball", 0x2B: "buried moldorm", 0x2C: "cannon arrow shooter",
    0x2D: "king moblins cannons", 0x2E: "facade hole maker", 0x30: "great fairy heart",
    0x31: "goponga projectile", 0x32: "poppable bubble",
}  # fmt: skip
"""Part id → what it is; only those that many rooms have."""
