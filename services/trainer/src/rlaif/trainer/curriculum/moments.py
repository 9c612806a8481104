"""Brings one game to moments again and again, with as few save states as pays.

A save state costs as much as a quarter of a minute of the game played again. So a moment is a save
state some way back and the buttons since then, and a game that stands where it is asked for is left
alone.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe, unpack_keyframe
from rlaif.game.machine.actions import Action
from rlaif.trainer.curriculum.playing import Player

MOST_STEPS = 240
"""Base steps that are played again rather than saved: 40 ms, a save takes 31."""

_MOST_KEPT = 1024
"""Moments that are known by their way; the least used one goes. Their save states are some 20 kB,
and several share one."""


@dataclass(frozen=True, eq=False)
class Moment:
    """A moment of the game.

    Attributes:
        digest: Of the RAM.
        keyframe: A save state before it, or of it.
        digits: Base steps from there, a digit each.
    """

    digest: str
    keyframe: PackedKeyframe
    digits: str


class Moments:
    """One game that goes to moments."""

    def __init__(self, player: Player) -> None:
        """Play in `player`, which it has for itself."""
        self.player = player
        self._from: Moment | None = None
        self._kept: OrderedDict[str, Moment] = OrderedDict()

    def go_to(self, at: Moment) -> Player:
        """The game at a moment; nothing was played there yet."""
        if self._from is not at or self.player.actions:
            self.player.begin(unpack_keyframe(at.keyframe.data, at.keyframe.sha256))
            self._press(at.digits)
            self._from = at
        self.player.begin_here()
        return self.player

    def here(self) -> Moment:
        """Where the game stands now, after what was played since `go_to`."""
        before, player = self._from, self.player
        if before is not None and len(before.digits) + len(player.actions) <= MOST_STEPS:
            keyframe, digits = before.keyframe, before.digits + player.actions
        else:
            keyframe, digits = pack_keyframe(player.save()), ""
        self._from = Moment(player.digest(), keyframe, digits)
        player.begin_here()
        return self._from

    def saved(self, at: Moment) -> Moment:
        """The same moment with a save state of its own, for one that is gone to many times."""
        if not at.digits:
            return at
        player = self.go_to(at)
        self._from = Moment(at.digest, pack_keyframe(player.save()), "")
        return self._from

    def after(self, state: bytes, stretches: Sequence[str]) -> Moment:
        """The moment after these base steps from a save state, which come in several pieces."""
        names = _names(state, stretches)
        known = next(
            (number for number in reversed(range(len(names))) if names[number] in self._kept), None
        )
        if known is None:
            self.player.begin(state)
            self._from = None
            self._kept[names[0]] = self.here()
            known = 0
        self._kept.move_to_end(names[known])
        moment = self._kept[names[known]]
        self.go_to(moment)
        for number in range(known, len(stretches)):
            self._press(stretches[number])
            if number == len(stretches) - 1 or len(self.player.actions) > MOST_STEPS:
                moment = self._kept[names[number + 1]] = self.here()
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return moment

    def _press(self, digits: str) -> None:
        for digit in digits:
            self.player.step(Action(int(digit)))


def _names(state: bytes, stretches: Sequence[str]) -> list[str]:
    """Of the save state and of the end of each stretch: what leads there, to the button."""
    names = [hashlib.sha256(state).hexdigest()]
    for actions in stretches:
        names.append(hashlib.sha256(f"{names[-1]} {actions}".encode()).hexdigest())
    return names
