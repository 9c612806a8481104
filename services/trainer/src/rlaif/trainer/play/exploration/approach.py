"""Replays the last steps before an archived state to obtain start states for practice."""

from dataclasses import dataclass
from typing import Any

from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe
from rlaif.game.machine.emulator import Emulator
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.lineage import play
from rlaif.trainer.play.exploration.states import ArchiveRecord

DISTANCES = (8, 16, 32, 64, 128, 256, 512, 1024)
"""Decision steps before the end, 0.5 s to 68 s of the game. They double, because a policy that
masters a state also masters those near it."""


@dataclass(frozen=True)
class ApproachState:
    """A state before an archived state, stored as the steps since another archived state.

    Attributes:
        keyframe: Save state of the emulator.
        parent: Digest of the archived state from which the steps count.
        parent_steps: Decision steps of the game up to the parent.
        actions: One digit per decision step since the parent.
        waits: (step, frames) of waits after steps since the parent.
        distance: Decision steps from here to the end.
    """

    keyframe: PackedKeyframe
    parent: str
    parent_steps: int
    actions: str
    waits: tuple[tuple[int, int], ...]
    distance: int

    def state_dict(self) -> dict[str, Any]:
        return vars(self) | {"keyframe": (self.keyframe.data, self.keyframe.sha256)}

    @classmethod
    def of(cls, state: dict[str, Any]) -> "ApproachState":
        return cls(**state | {"keyframe": PackedKeyframe(*state["keyframe"])})


def states_before(
    archive: StateArchive, record: ArchiveRecord, emulator: Emulator
) -> tuple[ApproachState, ...]:
    """Return states before an archived state, the farthest first and none nearer than 8 steps.

    Replays the last 1,024 steps and those since the nearest archived state before them, which takes
    half a second. The emulator's state is restored afterwards.

    Raises:
        LineageMismatchError: The replay leads to other RAM.
        ArchivedStateError: A record or a state of the trajectory is missing or damaged.
    """
    end = record.steps
    wanted = {end - distance for distance in DISTANCES}
    begin, trajectory = _tail(archive, record, min(wanted))
    here = emulator.save_state()
    try:
        emulator.load_state(begin)
        found = []
        for part in trajectory:
            for steps in play(part, emulator):
                if part.parent_steps + steps in wanted:
                    keyframe = pack_keyframe(emulator.save_state())
                    found.append(_moment(keyframe, part, steps, end))
    finally:
        emulator.load_state(here)
    return tuple(found)


def _tail(
    archive: StateArchive, record: ArchiveRecord, since: int
) -> tuple[bytes, list[ArchiveRecord]]:
    """Return the nearest state kept at or before `since` steps, and the records after it."""
    trajectory: list[ArchiveRecord] = []
    for each in reversed(archive.lineage(record.sha256)):
        is_kept = archive.get(each.sha256) is not None
        if each is not record and is_kept and (each.steps <= since or each.parent is None):
            return archive.load(each.sha256)[0], trajectory[::-1]
        trajectory.append(each)
    raise AssertionError("a trajectory begins with a start state, which is kept")


def _moment(keyframe: PackedKeyframe, part: ArchiveRecord, steps: int, end: int) -> ApproachState:
    assert part.parent is not None  # otherwise there are no steps
    return ApproachState(
        keyframe=keyframe,
        parent=part.parent,
        parent_steps=part.parent_steps,
        actions=part.actions[:steps],
        waits=tuple(wait for wait in part.waits if wait[0] < steps),
        distance=end - part.parent_steps - steps,
    )
