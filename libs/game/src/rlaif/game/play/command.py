"""`rlaif-game play [ROM]`: play in a window, record and replay inputs."""

import argparse
import sys
from pathlib import Path

from rlaif.game.machine.cartridges import Cartridge, CartridgeError, load_cartridge
from rlaif.game.machine.emulator import EmulatorError
from rlaif.game.play.loop import HELP, FramePace, ScreenError, play, show_again
from rlaif.game.play.session import PlayedEmulator, Recording, RecordingError, Session
from rlaif.game.play.window import WindowScreen

_HELP = "play a game yourself"


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `play`; `options.run(options)` then runs it and returns the exit code."""
    parser = commands.add_parser("play", help=_HELP, description=_HELP, epilog=HELP)
    add = parser.add_argument
    add("rom", type=Path, nargs="?", help="ROM (default: the embedded game)")
    add("--state", type=Path, help="save state to start from")
    add("--state-file", type=Path, help="where F5 saves and F8 loads (var/play/TITLE.state)")
    add("--record", type=Path, metavar="FILE", help="write the inputs as JSON")
    add("--replay", type=Path, metavar="FILE", help="play a recording and verify its end")
    add(
        "--screen",
        choices=("window", "none"),
        default="window",
        help="display; none is for replays without a display (window)",
    )
    add("--scale", type=int, default=4, help="size of the window (4)")
    add("--speed", type=float, default=1.0, help="speed factor; 0: unlimited (1)")
    add("--mute", action="store_true", help="no sound (M toggles it otherwise)")
    add("--frames", type=int, default=0, help="stop after this many frames; 0: when you quit (0)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play; the reason of any exit code but 0 is one line on standard error.

    Returns:
        0 if played, 1 if there is no display or a replay led to other RAM, 2 if a file cannot be
        used.
    """
    try:
        message = _play(options)
    except (CartridgeError, EmulatorError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except (RecordingError, ScreenError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(message)
    return 0


def _play(options: argparse.Namespace) -> str:
    # ROMs that training refuses may be played.
    cartridge = load_cartridge(options.rom, allow_modified=True, allow_unsupported=True)
    if options.record is not None and not options.record.parent.is_dir():
        raise RecordingError(f"no folder {options.record.parent} to record in: create it first")
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
        raise ScreenError("--screen none has no display: use it with --replay")
    name = "".join(c if c.isalnum() else "-" for c in title.lower()) or "game"
    state_file = options.state_file or Path("var/play") / f"{name}.state"
    screen = WindowScreen(title, scale=options.scale)
    try:
        play(session, screen, FramePace(options.speed), state_file, options.frames)
    except KeyboardInterrupt:
        pass  # Ctrl-C quits
    finally:
        screen.close()
    message = f"{session.frames} frames played\n"
    if options.record is not None:
        recording = session.recording()
        options.record.write_text(recording.to_json())
        message += f"{recording.frames} frames recorded in {options.record}\n"
    return message


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
    return f"{recording.frames} frames replayed, the RAM is as recorded\n"
