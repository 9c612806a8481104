"""The last steps before an archived state, played again: moments from which to practise them."""

from dataclasses import dataclass
from typing import Any

from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe
from rlaif.game.machine.emulator import Emulator
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.lineage import play
from rlaif.trainer.play.exploration.states import ArchiveRecord

DISTANCES = (8, 16, 32, 64, 128, 256, 512, 1024)
"""Steps of four frames before the end: half a second to 68 s of the game. They double, as a policy
that knows a place knows the ones near it."""


@dataclass(frozen=True)
class Moment:
    """A moment on the way to an archived state, kept as the steps since another archived state.

    Attributes:
        keyframe: The state of the emulator.
        parent: Digest of the archived state since which the steps count.
        parent_steps: Decision steps of the game up to that one.
        actions: One digit a decision step since then.
        waits: (step, frames) that were waited after steps since then.
        distance: Decision steps from here to the end of the way.
    """

    keyframe: PackedKeyframe
    parent: str
    parent_steps: int
    actions: str
    waits: tuple[tuple[int, int], ...]
    distance: int

    def state_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return vars(self) | {"keyframe": (self.keyframe.data, self.keyframe.sha256)}

    @classmethod
    def of(cls, state: dict[str, Any]) -> "Moment":
        """What `state_dict` gave."""
        return cls(**state | {"keyframe": PackedKeyframe(*state["keyframe"])})


def moments_before(
    archive: StateArchive, record: ArchiveRecord, emulator: Emulator
) -> tuple[Moment, ...]:
    """Moments before a state that `archive` keeps, the farthest first; none nearer than 8 steps.

    Plays the last 1,024 steps again, and those since the nearest archived state before them: half
    a second in the emulator, which stands where it stood when this returns.

    Raises:
        LineageMismatchError: The way leads elsewhere when it is played again.
        ArchivedStateError: A record or a state on the way is missing or damaged.
    """
    end = record.steps
    wanted = {end - distance for distance in DISTANCES}
    begin, way = _last_part(archive, record, min(wanted))
    here = emulator.save_state()
    try:
        emulator.load_state(begin)
        found = []
        for part in way:
            for steps in play(part, emulator):
                if part.parent_steps + steps in wanted:
                    keyframe = pack_keyframe(emulator.save_state())
                    found.append(_moment(keyframe, part, steps, end))
    finally:
        emulator.load_state(here)
    return tuple(found)


def _last_part(
    archive: StateArchive, record: ArchiveRecord, since: int
) -> tuple[bytes, list[ArchiveRecord]]:
    """The nearest state kept at or before `since` steps, and the records from it to the end."""
    way: list[ArchiveRecord] = []
    for each in reversed(archive.lineage(record.sha256)):
        is_kept = archive.get(each.sha256) is not None
        if each is not record and is_kept and (each.steps <= since or each.parent is None):
            return archive.load(each.sha256)[0], way[::-1]
        way.append(each)
    raise AssertionError("a way begins with a start, which is kept")


def _moment(keyframe: PackedKeyframe, part: ArchiveRecord, steps: int, end: int) -> Moment:
    assert part.parent is not None  # else there were no steps
    return Moment(
        keyframe=keyframe,
        parent=part.parent,
        parent_steps=part.parent_steps,
        actions=part.actions[:steps],
        waits=tuple(wait for wait in part.waits if wait[0] < steps),
        distance=end - part.parent_steps - steps,
    )
