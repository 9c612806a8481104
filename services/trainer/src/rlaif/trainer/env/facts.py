"""RAM in, the facts that the rewards are paid on out."""

import numpy as np

from rlaif.game import predicates
from rlaif.game.blocks import RamBlocks, bcd16
from rlaif.game.entities import player_position
from rlaif.game.memory_map import DUNGEONS, ROOM_ITEM, address
from rlaif.trainer.rewards.game import GameFacts

_GROUP = address("wActiveGroup")
_ROOM = address("wActiveRoom")
_RUPEES = address("wNumRupees")
_KEYS = address("wDungeonSmallKeys")
_TREASURES = address("wObtainedTreasureFlags")
_TREASURE_BYTES = 16
_ESSENCES = address("wEssencesObtained")
_HEALTH = address("wLinkHealth")
_ROOM_FLAGS = address("wGroup0RoomFlags")
_ROOM_FLAG_BYTES = 0x400
_ROOM_EVENT = 0x80
"""Room flag of a door, gate or boss that is done with."""


def read_facts(ram: RamBlocks) -> GameFacts:
    """What the rewards know of one moment; about 15 µs."""
    x, y = player_position(ram)
    flags = np.frombuffer(ram.block(_ROOM_FLAGS, _ROOM_FLAG_BYTES), dtype=np.uint8)
    treasures = int.from_bytes(ram.block(_TREASURES, _TREASURE_BYTES), "little")
    return GameFacts(
        group=ram.u8(_GROUP),
        room=ram.u8(_ROOM),
        x=x,
        y=y,
        rupees=bcd16(ram.u16(_RUPEES)),
        keys=sum(ram.block(_KEYS, DUNGEONS)),
        items=treasures.bit_count(),
        essences=ram.u8(_ESSENCES).bit_count(),
        events=int(np.count_nonzero(flags & ROOM_ITEM) + np.count_nonzero(flags & _ROOM_EVENT)),
        health=ram.u8(_HEALTH),
        dead=predicates.is_dying(ram),
        menu=predicates.is_menu(ram),
        text=predicates.is_text(ram),
    )
