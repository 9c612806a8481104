"""Minimizes parts of trajectories: removes decisions that are not needed.

The trajectories of a random search contain everything that was tried on the way. Removed decisions
are not imitated, and the policy has less to play. Decisions of a part are removed as long as the
rest still leads to its goal: its flags, the same room, needed flags, season and switches, and
enough consumables for the rest of the trajectory. Each trial carries out the remaining decisions,
because buttons that were right before may be wrong now.

Each part starts in the state in which the search itself started it. A cut must therefore hold for
its own part only; later parts start from a state for which more was spent, not less.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rlaif.files.whole import write_whole
from rlaif.game.captures.capture import unpack_keyframe
from rlaif.trainer.curriculum.player import Play, Player
from rlaif.trainer.curriculum.verification import Part, place_of
from rlaif.trainer.run_folder import npz_tree
from rlaif.trainer.search.marks import Marks
from rlaif.trainer.settings.game import STEP_FRAMES, GameSettings
from rlaif.trainer.spreading import spread

MAX_TRIAL_STEPS = 600_000
"""Default limit of emulator steps per part, about 100 seconds of one core: five times what a part
of 60 decisions needs, and about what one of 160 needs."""


Plays = tuple[Play, ...]


class _Made(NamedTuple):
    """A decision of a trial, and the game before it.

    Attributes:
        play: How it was played.
        state: Save state.
        place: (group, room).
        seen: Flags seen in the part.
        frames: Game frames of the part.
        died: Whether the player died, which returns it to where it entered the area.
    """

    play: Play
    state: bytes
    place: tuple[int, ...]
    seen: Marks
    frames: int
    died: bool


class Minimizer:
    """Minimizes parts, one after another, in one game."""

    def __init__(self, player: Player, max_trial_steps: int = MAX_TRIAL_STEPS) -> None:
        """`player` must not be used by others."""
        self._player, self._max_frames = player, max_trial_steps * STEP_FRAMES

    def minimized(self, part: Part) -> Plays:
        """Return locally minimal decisions of a part of a verified trajectory.

        Decisions between two visits of a room are removed first, longest first, because a search
        often enters a room without result and returns. Then chunks are removed: halves, quarters,
        down to single decisions (ddmin, Zeller 2002). Both are repeated as long as they help.
        """
        self._part, self._tried = part, set[tuple[int, ...]]()
        self._best: list[_Made] = []
        self._best_frames, self._may_die, self._frames = math.inf, True, 0
        assert self._play(0, part.decisions), "a verified part reaches its goal"
        self._frames, before = 0, None
        while before != self._decisions:
            before = self._decisions
            while any(self._try_without(*loop) for loop in loops([it.place for it in self._best])):
                pass
            self._remove_chunks()
        return tuple(each.play for each in self._best)

    @property
    def _decisions(self) -> tuple[int, ...]:
        return tuple(each.play.decision for each in self._best)

    def _remove_chunks(self) -> None:
        size = len(self._best) // 2
        while size:
            place = 0
            while place < len(self._best):
                if not self._try_without(place, place + size):
                    place += size
            size //= 2

    def _try_without(self, first: int, last: int) -> bool:
        """Try without these decisions; return whether that succeeds.

        Equal trials are played once.
        """
        remaining = self._decisions[:first] + self._decisions[last:]
        if remaining in self._tried or self._frames >= self._max_frames:
            return False
        self._tried.add(remaining)
        return self._play(first, remaining[first:])

    def _play(self, first: int, decisions: Sequence[int]) -> bool:
        """Carry out decisions after the first ones of the best play, until the goal is reached.

        If it is, sooner than by the best play and without a death unless that has one, this becomes
        the best play; returns whether it does.
        """
        player, made = self._player, self._best[:first]
        frames, died = 0, False
        player.begin(self._best[first].state if made else unpack_keyframe(*self._part.state))
        if made:
            _, _, _, player.seen, frames, died = self._best[first]
        offset = frames
        for decision in decisions:
            before = (player.save(), place_of(player.ram), player.seen, frames, died)
            made.append(_Made(player.decide(decision), *before))
            frames, died = offset + player.game.frames, died or player.died
            if died > self._may_die or frames >= self._best_frames:
                break
            if self._part.goal.is_reached(player.ram, player.seen):
                self._best, self._best_frames, self._may_die = made, frames, died
                break
        self._frames += player.game.frames
        return self._best is made


def loops(places: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Return pairs of leaving a room and returning to it, longest first.

    Args:
        places: The (group, room) in which each decision was made.

    Returns:
        (the decision that left the room, the first decision made in it again).
    """
    entered = [at for at, place in enumerate(places) if not at or places[at - 1] != place]
    left = [at - 1 for at in entered[1:]]
    found = [
        (out, back)
        for out in left
        for back in entered
        if back > out and places[out] == places[back]
    ]
    return sorted(found, key=lambda loop: loop[0] - loop[1])


def minimize(
    parts: Iterable[Part],
    game: GameSettings,
    *,
    processes: int,
    max_trial_steps: int,
    folder: Path | None,
    on_done: Callable[[int, int], None],
) -> dict[str, Plays]:
    """Minimize parts in worker processes, equal ones once; with 0 processes, in this one.

    `on_done` is called after each part with the numbers of finished and of all parts. Results in
    `folder` are used, and new ones are stored there. The result is by key.

    Raises:
        LostProcessError: A process ended early.
    """
    every = {part.key: part for part in parts}
    found: dict[str, Plays] = {}
    files = {key: folder / f"{key}-{max_trial_steps}.npz" for key in every} if folder else {}
    for key, file in files.items():
        with contextlib.suppress(OSError, npz_tree.NpzTreeError):  # else it is minimized again
            found[key] = tuple(Play(*play) for play in npz_tree.read(file))
    # The longest first, so that it does not start last and keep one process busy alone.
    missing = [part for key, part in every.items() if key not in found]
    missing.sort(key=lambda part: -len(part.decisions))

    def note(done: tuple[str, Plays]) -> None:
        key, plays = done
        found[key] = plays
        if key in files:
            write_whole(files[key], npz_tree.packed([tuple(play) for play in plays]))
        on_done(len(found), len(every))

    spread(partial(_minimize, game, max_trial_steps), missing, processes, note)
    return found


def _minimize(
    game: GameSettings,
    max_trial_steps: int,
    parts: Sequence[Part],
    on_done: Callable[[tuple[str, Plays]], None],
) -> None:
    player = Player(game)
    try:
        minimizer = Minimizer(player, max_trial_steps)
        for part in parts:
            on_done((part.key, minimizer.minimized(part)))
    finally:
        player.close()
