"""Restores game states repeatedly, with few save states.

A save state takes as long as replaying a quarter of a minute of the game. A state is therefore
represented by an earlier save state and the buttons since then. Nothing is replayed if the game is
already in the requested state.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe, unpack_keyframe
from rlaif.game.machine.actions import Action
from rlaif.trainer.curriculum.player import Player

MAX_REPLAYED_STEPS = 240
"""Emulator steps, at most 40 ms, that are replayed instead of keeping another save state of about
20 kB."""

_MAX_KEPT = 1024
"""Size of the LRU cache of states. A save state has about 20 kB and is shared by several states."""


@dataclass(frozen=True, eq=False)
class GameState:
    """A state of the game.

    Attributes:
        digest: Digest of the RAM.
        keyframe: A save state at or before it.
        digits: Emulator steps since the save state, one digit each.
    """

    digest: str
    keyframe: PackedKeyframe
    digits: str


class StateLoader:
    """Brings one game into states."""

    def __init__(self, player: Player) -> None:
        """`player` must not be used by others."""
        self.player = player
        self._from: GameState | None = None
        self._kept: OrderedDict[str, GameState] = OrderedDict()

    def restore(self, at: GameState) -> Player:
        """Restore a state."""
        if self._from is not at or self.player.actions:
            self.player.begin(unpack_keyframe(at.keyframe.data, at.keyframe.sha256))
            self._press(at.digits)
            self._from = at
        self.player.begin_here()
        return self.player

    def capture(self) -> GameState:
        """Return the present state, after what was played since `restore`."""
        before, player = self._from, self.player
        if before is not None and len(before.digits) + len(player.actions) <= MAX_REPLAYED_STEPS:
            keyframe, digits = before.keyframe, before.digits + player.actions
        else:
            keyframe, digits = pack_keyframe(player.save()), ""
        self._from = GameState(player.digest(), keyframe, digits)
        player.begin_here()
        return self._from

    def with_save(self, at: GameState) -> GameState:
        """Return an equal state with its own save state, for one that is restored many times."""
        if not at.digits:
            return at
        player = self.restore(at)
        self._from = GameState(at.digest, pack_keyframe(player.save()), "")
        return self._from

    def after(self, state: bytes, sections: Sequence[str]) -> GameState:
        """Return the state after playing these emulator steps from a save state."""
        names = _names(state, sections)
        known = next(
            (number for number in reversed(range(len(names))) if names[number] in self._kept), None
        )
        if known is None:
            self.player.begin(state)
            self._from = None
            self._kept[names[0]] = self.capture()
            known = 0
        self._kept.move_to_end(names[known])
        current = self._kept[names[known]]
        self.restore(current)
        for number in range(known, len(sections)):
            self._press(sections[number])
            if number == len(sections) - 1 or len(self.player.actions) > MAX_REPLAYED_STEPS:
                current = self._kept[names[number + 1]] = self.capture()
        while len(self._kept) > _MAX_KEPT:
            self._kept.popitem(last=False)
        return current

    def _press(self, digits: str) -> None:
        for digit in digits:
            self.player.step(Action(int(digit)))


def _names(state: bytes, sections: Sequence[str]) -> list[str]:
    """Return cache keys of the save state and of the end of each section: digests of the play."""
    names = [hashlib.sha256(state).hexdigest()]
    for actions in sections:
        names.append(hashlib.sha256(f"{names[-1]} {actions}".encode()).hexdigest())
    return names
