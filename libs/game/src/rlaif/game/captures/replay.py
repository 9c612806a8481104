"""Replays captures from their keyframes, step by step, and verifies them by RAM digests.

Independent of the game. Errors:

    ReplayError
    ├── WrongGameError       captured on another cartridge
    ├── WrongEmulatorError   captured on another emulator, version or sound setting
    └── ReplayMismatchError  the RAM differs: tampered capture, or play that is not reproducible

A damaged keyframe raises `rlaif.game.captures.capture.KeyframeError`.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import accumulate

from rlaif.contracts.game.captures import Capture
from rlaif.game.captures.capture import KeyframeError, unpack_keyframe
from rlaif.game.machine.actions import Action, decode_actions
from rlaif.game.machine.emulator import Emulator, SaveStateError


class ReplayError(Exception):
    """Base class of replay errors."""


class WrongGameError(ReplayError):
    """The capture was made on another cartridge."""


class WrongEmulatorError(ReplayError):
    """The capture was made on another emulator."""


class ReplayMismatchError(ReplayError):
    """The RAM of the replay differs from the capture's, at its start or its end."""

    def __init__(self, segment_id: str, where: str, expected: str, found: str) -> None:
        super().__init__(
            f"RAM at the {where} of segment {segment_id} has digest {found}, "
            f"the capture has {expected}"
        )
        self.where, self.expected, self.found = where, expected, found


@dataclass(frozen=True)
class ReplayStep:
    """One emulator step that was just replayed; the emulator is in the state after it."""

    index: int  # in the segment, from 0
    frame: int  # game frames of the segment so far, waits included
    action: Action
    rendered: bool  # `Emulator.screen` shows this step


def replay(
    emulator: Emulator,
    capture: Capture,
    packed_keyframe: bytes,
    *,
    rom_sha256: str,
    render_steps: Container[int] = frozenset(),
    piece: int | None = None,
) -> Iterator[ReplayStep]:
    """Replay a capture; yields each emulator step after it and its wait were played.

    With `piece` a step is yielded before its wait, and again after every `piece` frames of it.

    The end is checked after the last step was yielded: collected data is valid only if the
    iteration ends without an error. The state of `emulator`, which runs the ROM `rom_sha256`, is
    replaced. The last frame of each step in `render_steps` is drawn.

    Raises:
        WrongGameError: Captured on another cartridge.
        WrongEmulatorError: Captured on another emulator, version or sound setting.
        KeyframeError: The keyframe is damaged or not loadable.
        ReplayMismatchError: The RAM differs at the start or at the end.
    """
    _check_identity(emulator, capture, rom_sha256)
    try:
        emulator.load_state(unpack_keyframe(packed_keyframe, capture.keyframe_sha256))
    except SaveStateError as error:
        raise KeyframeError(str(error)) from error
    waits = dict(capture.prefix_waits)
    for index, action in enumerate(decode_actions(capture.prefix_actions)):
        emulator.step(action, capture.frame_skip)
        if index in waits:
            emulator.tick(waits[index])
    _check_ram(emulator, capture, "start", capture.start_ram_sha256)
    waits = dict(capture.waits)
    frame = 0
    for index, action in enumerate(decode_actions(capture.actions)):
        rendered, left = index in render_steps, waits.get(index, 0)
        is_shown = piece is not None or not left
        emulator.step(action, capture.frame_skip, render=rendered and is_shown)
        frame += capture.frame_skip
        if is_shown:
            yield ReplayStep(index, frame, action, rendered)
        while left:
            ticks = min(left, piece or left)
            emulator.tick(ticks, render=rendered)
            left, frame = left - ticks, frame + ticks
            yield ReplayStep(index, frame, action, rendered)
    _check_ram(emulator, capture, "end", capture.end_ram_sha256)


def frames_after_steps(capture: Capture) -> tuple[int, ...]:
    """Game frames of the segment after each of its emulator steps, waits included."""
    waits = dict(capture.waits)
    steps = range(len(capture.actions))
    return tuple(accumulate(capture.frame_skip + waits.get(step, 0) for step in steps))


def segment_frames(capture: Capture) -> int:
    """Game frames of the segment, waits included."""
    return frames_after_steps(capture)[-1]


def replay_frames(capture: Capture) -> int:
    """Game frames of a replay: those before the segment and its own."""
    before = len(capture.prefix_actions) * capture.frame_skip
    return before + sum(n for _, n in capture.prefix_waits) + segment_frames(capture)


def _check_identity(emulator: Emulator, capture: Capture, rom_sha256: str) -> None:
    """Raise WrongGameError or WrongEmulatorError if the capture cannot be replayed here."""
    if capture.game.rom_sha256 != rom_sha256:
        raise WrongGameError(
            f"segment {capture.segment_id} was captured on {capture.game.title!r} "
            f"({capture.game.rom_sha256[:12]}), but is replayed on {rom_sha256[:12]}: "
            "start trainer and exporter with the same ROM"
        )
    if capture.emulator != emulator.identity:
        raise WrongEmulatorError(
            f"segment {capture.segment_id} was captured with {capture.emulator}, but this is "
            f"{emulator.identity}: use the same version and settings on both sides"
        )


def _check_ram(emulator: Emulator, capture: Capture, where: str, expected: str) -> None:
    found = emulator.ram_digest()
    if found != expected:
        raise ReplayMismatchError(capture.segment_id, where, expected, found)
