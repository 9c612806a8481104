"""`python -m rlaif.exporter.replay_process PARENT`: replays captures sequentially.

A save state can make the emulator hang inside one frame or crash its process. Replays therefore run
in a process that the exporter can kill (`replayers.py`).

Reads messages from standard input, answers each on standard output, and ends with its input.

    in    start     rom_sha256, game, sound_emulated, png_interval_frames, film_pictures;
                    part: the ROM
    out   ready
    in    replay    seconds; parts: capture (JSON), packed keyframe
    out   replayed  frames, picture_steps; parts: states, observations, film (empty: none), pictures
          refused   reason, detail: the capture can never be exported
          failed    detail: an unexpected error

It ends with the exporter: the kernel ends it with its parent (Linux), and an alarm ends a late
replay on any system.
"""

import hashlib
import signal
import sys
import traceback
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rlaif.contracts.game.captures import Capture, GameIdentity
from rlaif.contracts.game.names import seed_and_size
from rlaif.exporter.messages import Message, decode, encode
from rlaif.exporter.replaying import SegmentFiles, replay_segment
from rlaif.game.captures.capture import KeyframeError
from rlaif.game.captures.replay import ReplayMismatchError, WrongEmulatorError, WrongGameError
from rlaif.game.description.words import GameWords, words_of
from rlaif.game.machine.emulator import new_emulator
from rlaif.game.worlds.making import make_world
from rlaif.service.child_process import answer, end_with, next_request, own_output

REASONS: dict[type[Exception], str] = {
    ReplayMismatchError: "ram_hash_mismatch",
    KeyframeError: "corrupt_keyframe",
    WrongGameError: "wrong_game",
    WrongEmulatorError: "wrong_emulator",
}
"""Error of a replay → reason of the dead letter."""

_MAX_IDLE = 8
"""Maximum idle emulators, each for one game."""

_ALARM_GRACE_SECONDS = 5.0
"""The exporter kills late replays earlier; the alarm takes effect if it has ended."""


@dataclass(frozen=True)
class _Game:
    name: str
    rom: bytes
    sha256: str

    @cached_property
    def words(self) -> GameWords:
        return words_of(self.name, self.rom)


class Replayer:
    """Replays captures on emulators of one ROM, or of generated worlds, which need no ROM."""

    def __init__(self, start: Message) -> None:
        self._start, (rom,) = start.header, start.parts
        self._own = _Game(self._start["game"], rom, self._start["rom_sha256"])
        # Starting an emulator takes far longer than loading a state into it. One is started now, so
        # that an unusable ROM is reported at once.
        sound = bool(self._start["sound_emulated"])
        self._idle = {(self._own.sha256, sound): new_emulator(rom, sound_emulated=sound)}

    def answer(self, request: Message) -> bytes:
        """Replay a capture and return the result message."""
        try:
            files = self._replay(*request.parts)
        except tuple(REASONS) as error:
            reason = next(word for kind, word in REASONS.items() if isinstance(error, kind))
            return encode({"refused": reason, "detail": str(error)})
        except Exception as error:
            traceback.print_exc()
            return encode({"failed": f"{type(error).__name__}: {error}"})
        header = {"frames": files.replayed_frames, "picture_steps": list(files.pictures)}
        parts = [files.states, files.observations, files.film or b"", *files.pictures.values()]
        return encode({"replayed": header}, parts)

    def _replay(self, capture_json: bytes, keyframe: bytes) -> SegmentFiles:
        capture = Capture.model_validate_json(capture_json)
        game, sound = self._game_of(capture.game), capture.emulator.sound_emulated
        emulator = self._idle.pop((game.sha256, sound), None)
        emulator = emulator or new_emulator(game.rom, sound_emulated=sound)
        try:
            files = replay_segment(
                emulator,
                capture,
                keyframe,
                rom_sha256=game.sha256,
                words=game.words,
                png_interval_frames=self._start["png_interval_frames"],
                film_pictures=self._start["film_pictures"],
            )
        except BaseException:
            emulator.close()  # its state may be partially loaded
            raise
        self._idle[game.sha256, sound] = emulator
        if len(self._idle) > _MAX_IDLE:
            self._idle.pop(next(iter(self._idle))).close()
        return files

    def _game_of(self, wanted: GameIdentity) -> _Game:
        world = seed_and_size(wanted.title)
        if world is None or wanted.rom_sha256 == self._own.sha256:
            return self._own
        try:
            return _generated(*world)
        except ValueError as error:
            raise WrongGameError(str(error)) from error


@lru_cache(maxsize=64)
def _generated(seed: int, rooms: int) -> _Game:
    made = make_world(seed, rooms)
    return _Game(made.name, made.rom, hashlib.sha256(made.rom).hexdigest())


def main() -> int:
    """Answer requests until the input ends; returns the exit code."""
    end_with(int(sys.argv[1]))
    incoming, outgoing = sys.stdin.buffer, own_output()
    start = next_request(incoming)
    if start is None:
        return 0
    try:
        replayer = Replayer(decode(start))
    except Exception as error:
        answer(outgoing, encode({"failed": f"{type(error).__name__}: {error}"}))
        return 1
    answer(outgoing, encode({"ready": True}))
    while (body := next_request(incoming)) is not None:
        request = decode(body)
        signal.setitimer(signal.ITIMER_REAL, request.header["seconds"] + _ALARM_GRACE_SECONDS)
        reply = replayer.answer(request)
        signal.setitimer(signal.ITIMER_REAL, 0)
        answer(outgoing, reply)
    return 0


if __name__ == "__main__":
    sys.exit(main())
