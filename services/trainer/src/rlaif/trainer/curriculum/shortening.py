"""Ways without what they can do without: what is left of each part between two needed marks.

A search tries things at random, and its ways hold all that was tried in between. What is cut out
of a demonstration is not imitated, and the policy has less to play. Decisions of a part are left
out as long as the rest still leads to its marks, into the same room, with nothing missing that was
there. What follows a cut is decided again, as buttons that were right then are not right now.

Each part begins at the moment at which the search itself began it. So a cut needs to hold for its
own part alone; what comes later is played from where more was paid for it, not less.
"""

from collections.abc import Sequence
from typing import NamedTuple

from rlaif.game.decisions.catalog import BUTTON
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_dying
from rlaif.trainer.curriculum.belongings import Belongings
from rlaif.trainer.curriculum.lineages import Part, Stretch
from rlaif.trainer.curriculum.looking_over import Walked
from rlaif.trainer.curriculum.moments import Moment, Moments
from rlaif.trainer.curriculum.playing import Player
from rlaif.trainer.search.marks import Marks, marks_of

MOST_TRIALS = 64
"""Cuts that are tried in one part."""

_DELAYS = (0, 2, 5, 9, 14)
"""Base steps that are waited before a whole part is decided again, until it arrives: enemies stand
elsewhere then."""

_MOST_SLOWER = 2
_SLACK_STEPS = 60
_NOP = BUTTON.start + Action.NOP
_GROUP, _ROOM = address("wActiveGroup"), address("wActiveRoom")


class _Goal(NamedTuple):
    marks: Marks
    group: int
    room: int
    belongings: Belongings

    def is_reached(self, ram: RamBlocks, seen: Marks) -> bool:
        """Whether a part may end here that saw these marks."""
        return (
            self.marks <= seen
            and (ram.u8(_GROUP), ram.u8(_ROOM)) == (self.group, self.room)
            and has_control(ram)
            and Belongings.of(ram).cover(self.belongings)
        )


class _Played(NamedTuple):
    made: tuple[int, ...]
    stretch: Stretch


class Shortener:
    """Shortens ways, which often begin alike: what was tried for one is known for the next."""

    def __init__(self, player: Player) -> None:
        """Try in `player`, which it has for itself."""
        self._moments = Moments(player)
        self._known: dict[tuple[str, tuple[int, ...], Marks], Stretch | None] = {}

    def shortened(self, walked: Walked, needed: Marks) -> tuple[Part, ...]:
        """The parts of a way between needed marks; one that cannot be cut stays as it was."""
        way, parts = walked.way, []
        actions = [stretch.actions for stretch in way.stretches]
        for first, last, marks in walked.parts(needed):
            at = self._moments.after(way.state, actions[:first])
            end = self._moments.after(way.state, actions[:last])
            decided = tuple(each for made in walked.decided[first:last] for each in made)
            key = at.digest, decided, marks
            if key not in self._known:
                goal = self._goal(end, marks, needed)
                most = _MOST_SLOWER * sum(map(len, actions[first:last])) + _SLACK_STEPS
                self._known[key] = self._least(at, decided, goal, most)
            state = self._moments.go_to(at).save()
            whole, least = Part(state, at.digest, way.stretches[first:last]), self._known[key]
            short = whole if least is None else Part(state, at.digest, (least,))
            parts.append(min(short, whole, key=lambda part: part.steps))
        return tuple(parts)

    def _goal(self, end: Moment, marks: Marks, needed: Marks) -> _Goal:
        ram = self._moments.go_to(end).ram
        has = Belongings.of(ram)
        return _Goal(
            marks, ram.u8(_GROUP), ram.u8(_ROOM), has._replace(marks=has.marks & needed - marks)
        )

    def _least(
        self, at: Moment, decided: tuple[int, ...], goal: _Goal, most: int
    ) -> Stretch | None:
        """As few of the decisions as were found to do; None when all of them do not.

        Halves are left out, then quarters, down to single decisions (Zeller 2002, ddmin).
        """
        at = self._moments.saved(at)
        best: _Played | None = None
        for delay in _DELAYS:
            best = self._play(at, (*[_NOP] * delay, *decided), goal, most)
            if best is not None:
                break
        if best is None:
            return None
        trials, size = 0, max(1, len(best.made) // 2)
        while size and trials < MOST_TRIALS:
            place = 0
            while place < len(best.made) and trials < MOST_TRIALS:
                fewer = best.made[:place] + best.made[place + size :]
                found = self._play(at, fewer, goal, len(best.stretch.actions) - 1)
                trials += 1
                if found is None:
                    place += size
                else:
                    best = found
            size //= 2
        return best.stretch

    def _play(self, at: Moment, decisions: Sequence[int], goal: _Goal, most: int) -> _Played | None:
        """Make decisions from a moment until the goal is reached; None when it is not.

        Args:
            at: Where to begin.
            decisions: What is decided, in order.
            goal: Where it ends.
            most: Base steps that it may take.
        """
        player = self._moments.go_to(at)
        seen = marks_of(player.ram)
        played: list[tuple[int, int]] = []
        for count, decision in enumerate(decisions, start=1):
            before = len(player.actions)
            player.decide(decision)
            played.append((decision, len(player.actions) - before))
            before = len(player.actions)
            player.wait()
            played += [(_NOP, 1)] * (len(player.actions) - before)
            if is_dying(player.ram) or len(player.actions) > most:
                return None
            seen |= marks_of(player.ram)
            if goal.is_reached(player.ram, seen):
                stretch = Stretch(tuple(played), player.actions, player.digest())
                return _Played(tuple(decisions[:count]), stretch)
        return None
