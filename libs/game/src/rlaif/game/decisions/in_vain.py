"""Decisions without effect in the current situation, which are masked until something changes.

A nearly deterministic policy repeats a decision that had no effect, because its observation stays
the same: walking to its own position, or into a closed path, would last to the end of the episode.
"""

from typing import Any

from rlaif.game.decisions.catalog import DECISIONS, Family
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import enemies, player_position
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control
from rlaif.game.motion.ground import tiles_of
from rlaif.game.motion.room_watcher import place_of

_FAMILIES: frozenset[Family] = frozenset({"WALK", "INTERACT", "FIGHT", "LEAVE", "GO_TO"})
"""Neither buttons, which also serve as waits, nor items, as a weapon may hit the next time."""

_FACING = address("w1Link.direction")
_OWNED, _OWNED_BYTES = address("wInventoryB"), 0x40
"""Buttons, inventory, treasures, health, rupees, amounts, levels."""


class InVain:
    """The decisions without effect of one environment.

    Attributes:
        decisions: Those without effect since the last change of the situation.
    """

    def __init__(self) -> None:
        self.decisions: frozenset[int] = frozenset()
        self._made: int | None = None
        self._before = self._now = (b"", b"")

    def look(self, ram: RamBlocks) -> frozenset[int]:
        """Update with the state in which the next decision is made; returns `decisions`.

        Idempotent for one state.
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
        self._made, self._before = index, self._now

    def state_dict(self) -> dict[str, Any]:
        return {
            "decisions": sorted(self.decisions),
            "made": self._made,
            "before": list(self._before),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.decisions = frozenset(state["decisions"])
        self._made = state["made"]
        was, foes = state["before"]
        self._before = self._now = (was, foes)


def _situation(ram: RamBlocks) -> bytes:
    """Position, facing, possessions and tiles of the room; empty without control.

    Objects that move by themselves are excluded.
    """
    if not has_control(ram):
        return b""
    x, y = player_position(ram)
    here = bytes((x, y, ram.u8(_FACING)))
    return place_of(ram) + here + ram.block(_OWNED, _OWNED_BYTES) + tiles_of(ram)


def _foes(ram: RamBlocks) -> bytes:
    return b"".join(bytes((it.id, it.x, it.y, it.health)) for it in enemies(ram))
