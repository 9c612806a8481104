"""`python -m rlaif.game play [ROM]`: a person plays in a window."""

import argparse
import sys
from pathlib import Path

from rlaif.game.machine.cartridges import Cartridge, CartridgeError, load_cartridge
from rlaif.game.machine.emulator import EmulatorError
from rlaif.game.play.loop import FramePace, play, show_again
from rlaif.game.play.recording import Recording, RecordingError
from rlaif.game.play.screens import HELP, ScreenError
from rlaif.game.play.session import PlayedEmulator, Session
from rlaif.game.play.window import WindowScreen

_HELP = "play a game yourself"


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `play`; `options.run(options)` then runs it and gives the exit code."""
    parser = commands.add_parser("play", help=_HELP, description=_HELP, epilog=HELP)
    add = parser.add_argument
    add("rom", type=Path, nargs="?", help="ROM; the embedded game when left out")
    add("--state", type=Path, help="save state to start from")
    add("--state-file", type=Path, help="where F5 saves and F8 loads (var/play/TITLE.state)")
    add("--record", type=Path, metavar="FILE", help="write what was pressed, as JSON")
    add("--replay", type=Path, metavar="FILE", help="play a recording and check its end")
    add(
        "--screen",
        choices=("window", "none"),
        default="window",
        help="where to play; none needs no display and only replays (window)",
    )
    add("--scale", type=int, default=4, help="size of the window (4)")
    add("--speed", type=float, default=1.0, help="times the speed of the console; 0: at once (1)")
    add("--mute", action="store_true", help="no sound (else M switches it)")
    add("--frames", type=int, default=0, help="stop after so many frames; 0: when you quit (0)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play; the exit code, with the reason of any other than 0 in one line on standard error.

    0 played, 1 it could not be shown or a replay led elsewhere, 2 a file cannot be used.
    """
    try:
        said = _play(options)
    except (CartridgeError, EmulatorError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except (RecordingError, ScreenError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(said)
    return 0


def _play(options: argparse.Namespace) -> str:
    # What cannot be trained on may be played.
    cartridge = load_cartridge(options.rom, allow_modified=True, allow_unsupported=True)
    if options.record is not None and not options.record.parent.is_dir():
        raise RecordingError(f"no folder {options.record.parent} to record in: make it first")
    recording = None
    sound = cartridge.needs_sound or (not options.mute and options.screen == "window")
    if options.replay is not None:
        recording = Recording.read(options.replay)
        sound = bool(recording.emulator.get("sound_emulated", sound))
    emulator = PlayedEmulator(cartridge.data, sound_emulated=sound)
    try:
        if recording is not None:
            return _replay(options, recording, emulator, cartridge)
        session = Session(emulator, cartridge, options.state)
        return _by_hand(options, session, cartridge.title)
    finally:
        emulator.close()


def _by_hand(options: argparse.Namespace, session: Session, title: str) -> str:
    if options.screen == "none":
        raise ScreenError("--screen none shows nothing to play on: it is for --replay")
    name = "".join(c if c.isalnum() else "-" for c in title.lower()) or "game"
    state_file = options.state_file or Path("var/play") / f"{name}.state"
    screen = WindowScreen(title, scale=options.scale)
    try:
        play(session, screen, FramePace(options.speed), state_file, options.frames)
    except KeyboardInterrupt:
        pass  # Ctrl-C is a way to quit
    finally:
        screen.close()
    said = f"{session.frames} frames played\n"
    if options.record is not None:
        recording = session.recording()
        options.record.write_text(recording.to_json())
        said += f"{recording.frames} frames recorded in {options.record}\n"
    return said


def _replay(
    options: argparse.Namespace,
    recording: Recording,
    emulator: PlayedEmulator,
    cartridge: Cartridge,
) -> str:
    recording.prepare(emulator, cartridge.sha256)
    if options.screen == "none":
        for held in recording.held():
            emulator.frame(held)
    else:
        session = Session(emulator, cartridge)
        screen = WindowScreen(cartridge.title, scale=options.scale)
        try:
            if not show_again(session, screen, FramePace(options.speed), recording.held()):
                return f"stopped after {session.frames} of {recording.frames} frames\n"
        finally:
            screen.close()
    recording.check_end(emulator)
    return f"{recording.frames} frames replayed, the RAM is the same as recorded\n"
