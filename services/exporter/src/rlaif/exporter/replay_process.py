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

import signal
import sys
import traceback

from rlaif.contracts.game.captures import Capture
from rlaif.exporter.messages import Message, decode, encode
from rlaif.exporter.replaying import SegmentFiles, replay_segment
from rlaif.game.captures.capture import KeyframeError
from rlaif.game.captures.replay import ReplayMismatchError, WrongEmulatorError, WrongGameError
from rlaif.game.description.words import words_of
from rlaif.game.machine.emulator import new_emulator
from rlaif.service.child_process import answer, end_with, next_request, own_output

REASONS: dict[type[Exception], str] = {
    ReplayMismatchError: "ram_hash_mismatch",
    KeyframeError: "corrupt_keyframe",
    WrongGameError: "wrong_game",
    WrongEmulatorError: "wrong_emulator",
}
"""Error of a replay → reason of the dead letter."""

_ALARM_GRACE_SECONDS = 5.0
"""The alarm applies if the exporter, which kills late replays, is gone."""


class Replayer:
    """Replays on emulators of one ROM."""

    def __init__(self, start: Message) -> None:
        self._start, (self._rom,) = start.header, start.parts
        self._words = words_of(self._start["game"], self._rom)
        # Starting an emulator takes far longer than loading a state into it. One is started now, so
        # that an unusable ROM is reported at once.
        sound = bool(self._start["sound_emulated"])
        self._idle = {sound: new_emulator(self._rom, sound_emulated=sound)}

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
        sound = capture.emulator.sound_emulated
        emulator = self._idle.pop(sound, None) or new_emulator(self._rom, sound_emulated=sound)
        try:
            files = replay_segment(
                emulator,
                capture,
                keyframe,
                rom_sha256=self._start["rom_sha256"],
                words=self._words,
                png_interval_frames=self._start["png_interval_frames"],
                film_pictures=self._start["film_pictures"],
            )
        except BaseException:
            emulator.close()  # its state may be partially loaded
            raise
        self._idle[sound] = emulator
        return files


def main() -> int:
    """Serve until the input ends; returns the exit code."""
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
