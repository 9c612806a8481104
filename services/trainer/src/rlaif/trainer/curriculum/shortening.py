"""Parts of ways without what they can do without.

A search tries things at random, and its ways hold all that was tried in between. What is cut out
of a demonstration is not imitated, and the policy has less to play. Decisions of a part are left
out as long as the rest still leads to its marks, into the same room, with no lasting mark missing
that was there, the same season and switches, and enough left for the rest of the way. What follows
a cut is decided again, as buttons that were right then are not right now.

Each part begins at the moment at which the search itself began it. So a cut needs to hold for its
own part alone; what comes later is played from where more was paid for it, not less.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rlaif.game.decisions.catalog import BUTTON
from rlaif.game.machine.actions import Action
from rlaif.game.memory.predicates import is_dying
from rlaif.trainer.curriculum.belongings import enough_for
from rlaif.trainer.curriculum.lineages import Part, Stretch
from rlaif.trainer.curriculum.looking_over import Walked
from rlaif.trainer.curriculum.moments import Moment, Moments
from rlaif.trainer.curriculum.part_goal import PartGoal, room_of, set_in
from rlaif.trainer.curriculum.playing import Player
from rlaif.trainer.search.marks import Marks, marks_of

MOST_STEPS = 600_000
"""Base steps that are played to shorten one part, some 100 seconds of a core: five times what a
part of 60 decisions takes, and about what one of 160 does."""

_DELAYS = (0, 2, 5, 9, 14)
"""Base steps that are waited before a whole part is decided again, until it arrives: enemies stand
elsewhere then."""

_MOST_SLOWER = 2
_SLACK_STEPS = 60
_NOP = BUTTON.start + Action.NOP


class _Played(NamedTuple):
    """What led to a goal.

    Attributes:
        made: What was decided, in order.
        rooms: Where that was, (group, room) of each.
        stretch: What was pressed.
        has_died: Whether he died on the way, which leads back to where he came into a place.
    """

    made: tuple[int, ...]
    rooms: tuple[tuple[int, ...], ...]
    stretch: Stretch
    has_died: bool


@dataclass(frozen=True)
class WholePart:
    """A part as the search played it.

    Attributes:
        walked: The way.
        first, last: Its first stretch, and the one after its last.
        marks: That are needed and new in it.
        needed: All that are needed.
    """

    walked: Walked
    first: int
    last: int
    marks: Marks
    needed: Marks

    @property
    def decided(self) -> tuple[int, ...]:
        """What somebody decided in it."""
        return tuple(each for made in self.walked.decided[self.first : self.last] for each in made)

    @property
    def steps(self) -> int:
        """Base steps."""
        stretches = self.walked.way.stretches[self.first : self.last]
        return sum(len(stretch.actions) for stretch in stretches)

    @property
    def key(self) -> str:
        """Equal for parts that begin and go alike, in whichever ways they are."""
        way = self.walked.way
        actions = [stretch.actions for stretch in way.stretches[: self.last]]
        words = (way.digest, self.first, actions, sorted(self.marks))
        return hashlib.sha256(repr(words).encode()).hexdigest()


def whole_parts(walked: Walked, needed: Marks) -> tuple[WholePart, ...]:
    """What lies between the needed marks of a way, in order."""
    return tuple(
        WholePart(walked, first, last, marks, needed) for first, last, marks in walked.parts(needed)
    )


class Shortener:
    """Shortens parts, one after another, in one game."""

    def __init__(self, player: Player) -> None:
        """Try in `player`, which it has for itself."""
        self._moments = Moments(player)

    def shortened(self, whole: WholePart) -> Part:
        """A part that takes fewer base steps; one that cannot be cut as it was."""
        way = whole.walked.way
        actions = [stretch.actions for stretch in way.stretches[: whole.last]]
        at = self._moments.after(way.state, actions[: whole.first])
        end = self._moments.after(way.state, actions)
        goal = self._goal(end, whole)
        least = self._least(at, whole.decided, goal, _MOST_SLOWER * whole.steps + _SLACK_STEPS)
        state = self._moments.go_to(at).save()
        part = Part(state, at.digest, way.stretches[whole.first : whole.last])
        short = part if least is None else Part(state, at.digest, (least,))
        return min(short, part, key=lambda each: each.steps)

    def _goal(self, end: Moment, whole: WholePart) -> PartGoal:
        ram = self._moments.go_to(end).ram
        return PartGoal(
            whole.marks,
            room_of(ram),
            set_in(ram),
            kept=marks_of(ram) & whole.needed - whole.marks,
            needed=enough_for(whole.walked.had[whole.last :]),
        )

    def _least(
        self, at: Moment, decided: tuple[int, ...], goal: PartGoal, most: int
    ) -> Stretch | None:
        """As few of the decisions as were found to do; None when all of them do not.

        What lies between two visits of a room is left out, the longest first: a search goes where
        nothing is, and comes back. Then halves of what is left, quarters, down to single decisions
        (Zeller 2002, ddmin); and all of it again while that helps.
        """
        at = self._moments.saved(at)
        best = self._again(at, decided, goal, most)
        if best is None:
            return None
        trials = _Trials(
            best,
            lambda fewer, most, may_die: self._play(at, fewer, goal, most, may_die=may_die),
        )
        before = None
        while before != trials.best.made and trials.steps < MOST_STEPS:
            before = trials.best.made
            _leave_out_loops(trials)
            _leave_out_chunks(trials)
        return trials.best.stretch

    def _again(
        self, at: Moment, decided: tuple[int, ...], goal: PartGoal, most: int
    ) -> _Played | None:
        """All of a part decided once more, after a wait if need be; None when it never arrives."""
        for may_die in (False, True):
            for delay in _DELAYS:
                waited = (*[_NOP] * delay, *decided)
                found = self._play(at, waited, goal, most, may_die=may_die)
                if found is not None:
                    return found
        return None

    def _play(
        self, at: Moment, decisions: Sequence[int], goal: PartGoal, most: int, *, may_die: bool
    ) -> _Played | None:
        """Make decisions from a moment until the goal is reached; None when it is not.

        Args:
            at: Where to begin.
            decisions: What is decided, in order.
            goal: Where it ends.
            most: Base steps that it may take.
            may_die: Whether a death on the way counts for nothing.
        """
        player = self._moments.go_to(at)
        seen, has_died = marks_of(player.ram), False
        played: list[tuple[int, int]] = []
        rooms: list[tuple[int, ...]] = []
        for count, decision in enumerate(decisions, start=1):
            before = len(player.actions)
            rooms.append(room_of(player.ram))
            player.decide(decision)
            played.append((decision, len(player.actions) - before))
            before = len(player.actions)
            player.wait()
            played += [(_NOP, 1)] * (len(player.actions) - before)
            has_died |= is_dying(player.ram)
            if has_died > may_die or len(player.actions) > most:
                return None
            seen |= marks_of(player.ram)
            if goal.is_reached(player.ram, seen):
                stretch = Stretch(tuple(played), player.actions, player.digest())
                return _Played(tuple(decisions[:count]), tuple(rooms), stretch, has_died)
        return None


class _Trials:
    """Cuts are tried one after another.

    Attributes:
        best: What holds with all cuts so far.
        steps: Base steps that the trials may have taken, as each stops before it is longer.
    """

    def __init__(
        self, best: _Played, play: Callable[[Sequence[int], int, bool], _Played | None]
    ) -> None:
        self.best, self.steps = best, 0
        self._play = play
        self._tried: set[tuple[int, ...]] = set()

    def leave_out(self, first: int, last: int) -> bool:
        """Try without these decisions; whether the rest does. What was tried is not played."""
        fewer = self.best.made[:first] + self.best.made[last:]
        if fewer in self._tried or self.steps >= MOST_STEPS:
            return False
        self._tried.add(fewer)
        most = len(self.best.stretch.actions) - 1
        self.steps += most
        found = self._play(fewer, most, self.best.has_died)
        if found is None:
            return False
        self.best = found
        return True


def _leave_out_loops(trials: _Trials) -> None:
    while any(trials.leave_out(*loop) for loop in loops(trials.best.rooms)):
        pass


def _leave_out_chunks(trials: _Trials) -> None:
    size = len(trials.best.made) // 2
    while size:
        place = 0
        while place < len(trials.best.made):
            if not trials.leave_out(place, place + size):
                place += size
        size //= 2


def loops(rooms: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Ways out of a room and back in, longest first: what may be left out as a whole.

    Args:
        rooms: The (group, room) in which each decision was made.

    Returns:
        (the decision that left the room, the first one that was made in it again).
    """
    entered = [place for place, room in enumerate(rooms) if not place or rooms[place - 1] != room]
    left = [place - 1 for place in entered[1:]]
    found = [
        (out, back) for out in left for back in entered if back > out and rooms[out] == rooms[back]
    ]
    return sorted(found, key=lambda loop: loop[0] - loop[1])
