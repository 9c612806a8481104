"""Minimizes parts of trajectories: removes decisions that are not needed.

The trajectories of a random search contain everything that was tried on the way. Removed decisions
are not imitated, and the policy has less to play. Decisions of a part are removed as long as the
rest still leads to its flags, into the same room, with the same needed flags, season and switches,
and with enough consumables for the rest of the trajectory. After a cut, decisions are carried out
again instead of replaying buttons, because buttons that were right before may be wrong now.

Each part starts in the state in which the search itself started it. A cut must therefore hold for
its own part only; later parts start from a state for which more was spent, not less.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rlaif.files.whole import write_whole
from rlaif.game.decisions.catalog import BUTTON
from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import new_emulator
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_dying
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.curriculum.state_loader import GameState, StateLoader
from rlaif.trainer.curriculum.trajectories import Part, Section
from rlaif.trainer.curriculum.verification import (
    Inventory,
    VerifiedTrajectory,
    sufficient_inventory,
)
from rlaif.trainer.run_folder import npz_tree
from rlaif.trainer.search.marks import Marks, marks_of
from rlaif.trainer.spreading import spread

_ROOM = tuple(map(address, ("wActiveGroup", "wActiveRoom")))
_SET = tuple(map(address, ("wRoomStateModifier", "wSwitchState", "wToggleBlocksState")))


def room_of(ram: RamBlocks) -> tuple[int, ...]:
    """Return the player's (group, room)."""
    return tuple(map(ram.u8, _ROOM))


def set_in(ram: RamBlocks) -> tuple[int, ...]:
    """Return persistent state without a flag: the season, switches and toggled blocks."""
    return tuple(map(ram.u8, _SET))


class PartGoal(NamedTuple):
    """The condition for the end of a part.

    Attributes:
        marks: Flags that must have been seen.
        room: Required room (`room_of`).
        set: Required result of `set_in`. A lever has no flag. If its pull had been cut out, the
            next part would still start behind the gate that it opens, where no policy could arrive
            from the part before.
        kept: Flags that must still be set.
        needed: Minimum consumables.
    """

    marks: Marks
    room: tuple[int, ...]
    set: tuple[int, ...]
    kept: Marks
    needed: Inventory

    def is_reached(self, ram: RamBlocks, seen: Marks) -> bool:
        """Whether a part with these seen flags may end in this state."""
        return (
            self.marks <= seen
            and room_of(ram) == self.room
            and set_in(ram) == self.set
            and has_control(ram)
            and Inventory.of(ram).cover(self.needed)
            and self.kept <= marks_of(ram)
        )


MAX_TRIAL_STEPS = 600_000
"""Default limit of emulator steps per part, about 100 seconds of one core: five times what a part
of 60 decisions needs, and about what one of 160 needs."""

_DELAYS = (0, 2, 5, 9, 14)
"""Emulator steps to wait before a complete part is decided again, until it succeeds; enemies move
in the meantime."""

_MAX_SLOWDOWN = 2
_SLACK_STEPS = 60
_NOP = BUTTON.start + Action.NOP


class _Played(NamedTuple):
    """A successful play.

    Attributes:
        made: Decisions, in order.
        rooms: (group, room) in which each was made.
        section: The buttons.
        has_died: Whether the player died, which returns it to where it entered the area.
    """

    made: tuple[int, ...]
    rooms: tuple[tuple[int, ...], ...]
    section: Section
    has_died: bool


@dataclass(frozen=True)
class WholePart:
    """A part as the search played it.

    Attributes:
        verified: The trajectory.
        first, last: Its first section, and the one after its last.
        marks: Needed flags that are new in it.
        needed: All needed flags.
    """

    verified: VerifiedTrajectory
    first: int
    last: int
    marks: Marks
    needed: Marks

    @property
    def decided(self) -> tuple[int, ...]:
        """Decisions in it, without those during which the game runs on its own."""
        return tuple(
            each for made in self.verified.decided[self.first : self.last] for each in made
        )

    @property
    def steps(self) -> int:
        """Emulator steps."""
        sections = self.verified.trajectory.sections[self.first : self.last]
        return sum(len(section.actions) for section in sections)

    @property
    def key(self) -> str:
        """Equal for parts with equal start and actions, in any trajectory."""
        trajectory = self.verified.trajectory
        actions = [section.actions for section in trajectory.sections[: self.last]]
        identity = (trajectory.digest, self.first, actions, sorted(self.marks))
        return hashlib.sha256(repr(identity).encode()).hexdigest()


def whole_parts(verified: VerifiedTrajectory, needed: Marks) -> tuple[WholePart, ...]:
    """Split a trajectory at its needed flags."""
    return tuple(
        WholePart(verified, first, last, marks, needed)
        for first, last, marks in verified.parts(needed)
    )


class Minimizer:
    """Minimizes parts, one after another, in one game."""

    def __init__(self, player: Player, max_trial_steps: int = MAX_TRIAL_STEPS) -> None:
        """`player` must not be used by others."""
        self._loader = StateLoader(player)
        self._max_trial_steps = max_trial_steps

    def minimized(self, whole: WholePart) -> Part:
        """Return the part with remaining emulator steps, or unchanged if nothing can be removed."""
        trajectory = whole.verified.trajectory
        actions = [section.actions for section in trajectory.sections[: whole.last]]
        at = self._loader.after(trajectory.state, actions[: whole.first])
        end = self._loader.after(trajectory.state, actions)
        goal = self._goal(end, whole)
        minimal = self._minimized(
            at, whole.decided, goal, _MAX_SLOWDOWN * whole.steps + _SLACK_STEPS
        )
        state = self._loader.restore(at).save()
        part = Part(state, at.digest, trajectory.sections[whole.first : whole.last])
        short = part if minimal is None else Part(state, at.digest, (minimal,))
        return min(short, part, key=lambda each: each.steps)

    def _goal(self, end: GameState, whole: WholePart) -> PartGoal:
        ram = self._loader.restore(end).ram
        return PartGoal(
            whole.marks,
            room_of(ram),
            set_in(ram),
            kept=marks_of(ram) & whole.needed - whole.marks,
            needed=sufficient_inventory(whole.verified.had[whole.last :]),
        )

    def _minimized(
        self, at: GameState, decided: tuple[int, ...], goal: PartGoal, max_steps: int
    ) -> Section | None:
        """Return a locally minimal section, or None if even all decisions miss the goal.

        Decisions between two visits of a room are removed first, longest first, because a search
        often enters a room without result and returns. Then chunks are removed: halves, quarters,
        down to single decisions (ddmin, Zeller 2002). Both are repeated as long as they help.
        """
        at = self._loader.with_save(at)
        best = self._again(at, decided, goal, max_steps)
        if best is None:
            return None
        trials = _Trials(
            best,
            lambda remaining, max_steps, may_die: self._play(
                at, remaining, goal, max_steps, may_die=may_die
            ),
            self._max_trial_steps,
        )
        before = None
        while before != trials.best.made and not trials.is_over:
            before = trials.best.made
            _remove_loops(trials)
            _remove_chunks(trials)
        return trials.best.section

    def _again(
        self, at: GameState, decided: tuple[int, ...], goal: PartGoal, max_steps: int
    ) -> _Played | None:
        """Carry out all decisions again, if necessary after a wait; None if that fails."""
        for may_die in (False, True):
            for delay in _DELAYS:
                waited = (*[_NOP] * delay, *decided)
                found = self._play(at, waited, goal, max_steps, may_die=may_die)
                if found is not None:
                    return found
        return None

    def _play(
        self,
        at: GameState,
        decisions: Sequence[int],
        goal: PartGoal,
        max_steps: int,
        *,
        may_die: bool,
    ) -> _Played | None:
        """Carry out decisions until the goal is reached; None if it is not.

        Args:
            at: State to start from.
            decisions: Decisions, in order.
            goal: Condition of the end.
            max_steps: Limit of emulator steps.
            may_die: Whether deaths are tolerated.
        """
        player = self._loader.restore(at)
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
            if has_died > may_die or len(player.actions) > max_steps:
                return None
            seen |= marks_of(player.ram)
            if goal.is_reached(player.ram, seen):
                section = Section(tuple(played), player.actions, player.digest())
                return _Played(tuple(decisions[:count]), tuple(rooms), section, has_died)
        return None


class _Trials:
    """Tries cuts one after another.

    Attributes:
        best: The shortest successful play so far.
        steps: Upper bound of the emulator steps played, as each trial stops when it becomes longer
            than `best`.
    """

    def __init__(
        self,
        best: _Played,
        play: Callable[[Sequence[int], int, bool], _Played | None],
        max_steps: int,
    ) -> None:
        self.best, self.steps = best, 0
        self._play, self._max_steps = play, max_steps
        self._tried: set[tuple[int, ...]] = set()

    @property
    def is_over(self) -> bool:
        return self.steps >= self._max_steps

    def try_without(self, first: int, last: int) -> bool:
        """Try without these decisions; return whether that succeeds.

        Equal trials are played once.
        """
        remaining = self.best.made[:first] + self.best.made[last:]
        if remaining in self._tried or self.is_over:
            return False
        self._tried.add(remaining)
        max_steps = len(self.best.section.actions) - 1
        self.steps += max_steps
        found = self._play(remaining, max_steps, self.best.has_died)
        if found is None:
            return False
        self.best = found
        return True


def _remove_loops(trials: _Trials) -> None:
    while any(trials.try_without(*loop) for loop in loops(trials.best.rooms)):
        pass


def _remove_chunks(trials: _Trials) -> None:
    size = len(trials.best.made) // 2
    while size:
        place = 0
        while place < len(trials.best.made):
            if not trials.try_without(place, place + size):
                place += size
        size //= 2


def loops(rooms: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Return pairs of leaving a room and returning to it, longest first.

    Args:
        rooms: The (group, room) in which each decision was made.

    Returns:
        (the decision that left the room, the first decision made in it again).
    """
    entered = [place for place, room in enumerate(rooms) if not place or rooms[place - 1] != room]
    left = [place - 1 for place in entered[1:]]
    found = [
        (out, back) for out in left for back in entered if back > out and rooms[out] == rooms[back]
    ]
    return sorted(found, key=lambda loop: loop[0] - loop[1])


Minimized = dict[str, Part]
"""The result of each part, by its key."""

_Job = tuple[str, WholePart]


class MinimizedParts:
    """Results on disk, one file per part, so that a part is minimized once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Part | None:
        """Return the result of a part; None if there is none, or its file is damaged."""
        try:
            state, digest, sections = npz_tree.read(self._folder / f"{key}.npz")
        except (OSError, npz_tree.NpzTreeError):
            return None
        return Part(state, digest, tuple(Section(tuple(made), *rest) for made, *rest in sections))

    def put(self, key: str, part: Part) -> None:
        sections = [(each.decisions, each.actions, each.digest) for each in part.sections]
        tree = (part.state, part.digest, sections)
        write_whole(self._folder / f"{key}.npz", npz_tree.packed(tree))


def minimize(
    parts: Sequence[WholePart],
    rom: bytes,
    *,
    sound: bool,
    processes: int,
    on_done: Callable[[int, int], None],
    known: MinimizedParts | None = None,
    max_trial_steps: int = MAX_TRIAL_STEPS,
) -> Minimized:
    """Minimize parts in worker processes, equal ones once; with 0 processes, in this one.

    `on_done` is called after each part with the numbers of finished and of all parts. Results in
    `known` are used, and new ones are stored there.

    Raises:
        LostProcessError: A process ended early.
    """
    every = {each.key: each for each in parts}
    found: Minimized = {}
    if known is not None:
        found = {key: part for key in every if (part := known.get(key)) is not None}
    # The longest first, so that it does not start last and keep one process busy alone.
    jobs = sorted(
        (job for job in every.items() if job[0] not in found), key=lambda job: -job[1].steps
    )

    def note(done: tuple[str, Part]) -> None:
        key, part = done
        found[key] = part
        if known is not None:
            known.put(key, part)
        on_done(len(found), len(every))

    spread(partial(_minimize, rom, sound, max_trial_steps), jobs, processes, note)
    return found


def _minimize(
    rom: bytes,
    sound: bool,
    max_trial_steps: int,
    jobs: Sequence[_Job],
    on_done: Callable[[tuple[str, Part]], None],
) -> None:
    emulator = new_emulator(rom, sound_emulated=sound)
    try:
        minimizer = Minimizer(Player(emulator), max_trial_steps)
        for key, whole in jobs:
            on_done((key, minimizer.minimized(whole)))
    finally:
        emulator.close()
