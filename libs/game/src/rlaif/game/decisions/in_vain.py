"""What was decided in vain where the game stands: it would be in vain again.

A policy that is nearly sure of a decision makes it again when nothing came of it: what it sees is
as before. A walk to where the player stands already, or into a closed way, would hold up an episode
to its end. So a decision after which all is as it was is not offered again until something changes.
"""

from typing import Any

from rlaif.game.decisions.catalog import DECISIONS, Family
from rlaif.game.decisions.ground import tiles_of
from rlaif.game.decisions.moment import listens, place_of
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import enemies, player_position
from rlaif.game.memory.memory_map import address

_FAMILIES: frozenset[Family] = frozenset({"WALK", "INTERACT", "FIGHT", "LEAVE", "GO_TO"})
"""Buttons wait, and a weapon may meet something the next time."""

_FACING = address("w1Link.direction")
_OWNED, _OWNED_BYTES = address("wInventoryB"), 0x40
"""What is on the buttons and in the inventory, treasures, health, rupees, amounts, levels."""


class InVain:
    """The decisions of one environment that changed nothing.

    Attributes:
        decisions: Those that were in vain where the game stands, since something changed last.
    """

    def __init__(self) -> None:
        self.decisions: frozenset[int] = frozenset()
        self._made: int | None = None
        self._before = self._now = (b"", b"")

    def look(self, ram: RamBlocks) -> frozenset[int]:
        """The game shows this moment, in which somebody will decide; gives `decisions`.

        Looking twice at one moment changes nothing.
        """
        self._now = (_situation(ram), _foes(ram))
        was, foes = self._before
        if not self._now[0] or self._now[0] != was:
            self.decisions = frozenset()
        elif self._made is not None:
            family = DECISIONS[self._made].family
            if family in _FAMILIES and (family != "FIGHT" or foes == self._now[1]):
                self.decisions |= {self._made}
        return self.decisions

    def decide(self, index: int) -> None:
        """This decision is made in the moment that was looked at last."""
        self._made, self._before = index, self._now

    def state_dict(self) -> dict[str, Any]:
        """What is remembered, as plain values."""
        return {
            "decisions": sorted(self.decisions),
            "made": self._made,
            "before": list(self._before),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume with what `state_dict` gave."""
        self.decisions = frozenset(state["decisions"])
        self._made = state["made"]
        was, foes = state["before"]
        self._before = self._now = (was, foes)


def _situation(ram: RamBlocks) -> bytes:
    """Where the player stands and faces, what he has, the room's tiles; empty where none listens.

    What moves by itself does not count.
    """
    if not listens(ram):
        return b""
    x, y = player_position(ram)
    here = bytes((x, y, ram.u8(_FACING)))
    return place_of(ram) + here + ram.block(_OWNED, _OWNED_BYTES) + tiles_of(ram)


def _foes(ram: RamBlocks) -> bytes:
    return b"".join(bytes((it.id, it.x, it.y, it.health)) for it in enemies(ram))
