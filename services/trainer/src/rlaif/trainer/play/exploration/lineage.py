"""Replays the trajectory to an archived state and verifies its digests."""

from collections.abc import Iterator

from rlaif.game.machine.actions import decode_actions
from rlaif.game.machine.emulator import Emulator
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.states import ArchiveError, ArchiveRecord


class LineageMismatchError(ArchiveError):
    """The recorded actions lead to other RAM than the state has."""


def replay_lineage(archive: StateArchive, sha256: str, emulator: Emulator) -> int:
    """Play from a start of the game to a state, through all archived states between.

    Leaves the emulator, which must match the archive's identity, at the end; returns the number of
    decision steps.

    Raises:
        LineageMismatchError: The RAM differs from that of a state on the trajectory.
        ArchivedStateError: A record or the start is missing or damaged.
    """
    start, *trajectory = archive.lineage(sha256)
    emulator.load_state(archive.load(start.sha256)[0])
    for record in trajectory:
        for _ in play(record, emulator):
            pass
    return trajectory[-1].steps if trajectory else 0


def play(record: ArchiveRecord, emulator: Emulator) -> Iterator[int]:
    """Play from the parent of a state, which is loaded, to the state.

    Yields the number of steps after each of them; the RAM is compared after the last one.

    Raises:
        LineageMismatchError: It differs from that of the state.
    """
    waits = dict(record.waits)
    for step, action in enumerate(decode_actions(record.actions)):
        emulator.step(action, record.identity.frame_skip)
        if step in waits:
            emulator.tick(waits[step])
        yield step + 1
    found = emulator.ram_digest()
    if found != record.ram_sha256:
        raise LineageMismatchError(
            f"after {record.steps} steps the RAM has digest {found[:12]}, state "
            f"{record.sha256[:12]} has {str(record.ram_sha256)[:12]}: the record is wrong, or "
            "the emulator is not deterministic"
        )
