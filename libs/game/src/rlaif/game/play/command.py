"""`python -m rlaif.game play [ROM]`: a person plays, in a window or in the terminal."""

import argparse
import hashlib
import os
import sys
from pathlib import Path

from rlaif.game.cartridges import CartridgeError, load_cartridge
from rlaif.game.emulator import EmulatorError
from rlaif.game.play.loop import Pace, play, show_again
from rlaif.game.play.recording import Recording, RecordingError
from rlaif.game.play.screens import HELP, Screen, ScreenError
from rlaif.game.play.session import PlayedEmulator, Session
from rlaif.game.play.window import WindowScreen
from rlaif.game.rom_checks import rom_title

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
        choices=("auto", "window", "terminal", "none"),
        default="auto",
        help="where to play; none only replays (auto: a window where there is a display)",
    )
    add("--scale", type=int, default=4, help="size of the window (4)")
    add("--speed", type=float, default=1.0, help="times the speed of the console; 0: at once (1)")
    add("--frames", type=int, default=0, help="stop after so many frames; 0: when you quit (0)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play; exit code 0, or 1 with the reason on standard error."""
    try:
        said = _play(options)
    except (CartridgeError, EmulatorError, RecordingError, ScreenError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(said)
    return 0


def _play(options: argparse.Namespace) -> str:
    rom, sound = _rom(options.rom)
    title, sha256 = rom_title(rom), hashlib.sha256(rom).hexdigest()
    recording = None
    if options.replay is not None:
        recording = Recording.from_json(options.replay.read_text())
        sound = bool(recording.emulator.get("sound_emulated", sound))
    emulator = PlayedEmulator(rom, sound_emulated=sound)
    try:
        if recording is not None:
            return _replay(options, recording, emulator, title, sha256)
        state = options.state.read_bytes() if options.state else None
        session = Session(emulator, title=title, rom_sha256=sha256, state=state)
        return _by_hand(options, session, title)
    finally:
        emulator.close()


def _by_hand(options: argparse.Namespace, session: Session, title: str) -> str:
    if options.screen == "none":
        raise ScreenError("--screen none shows nothing to play on: it is for --replay")
    name = "".join(c if c.isalnum() else "-" for c in title.lower()) or "game"
    state_file = options.state_file or Path("var/play") / f"{name}.state"
    screen = _screen(options, title)
    try:
        play(session, screen, Pace(options.speed), state_file, options.frames)
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
    title: str,
    sha256: str,
) -> str:
    recording.prepare(emulator, sha256)
    if options.screen == "none":
        for held in recording.held():
            emulator.frame(held)
    else:
        session = Session(emulator, title=title, rom_sha256=sha256)
        screen = _screen(options, title)
        try:
            if not show_again(session, screen, Pace(options.speed), recording.held()):
                return f"stopped after {session.frames} of {recording.frames} frames\n"
        finally:
            screen.close()
    recording.check_end(emulator)
    return f"{recording.frames} frames replayed, the RAM is the same as recorded\n"


def _rom(path: Path | None) -> tuple[bytes, bool]:
    """The ROM and whether it needs sound; a game that the project cannot train on may be played."""
    try:
        cartridge = load_cartridge(path)
    except CartridgeError:
        if path is None or not path.is_file():
            raise
        return path.read_bytes(), False
    return cartridge.data, cartridge.needs_sound


def _screen(options: argparse.Namespace, title: str) -> Screen:
    if options.screen == "window" or (options.screen == "auto" and _has_display()):
        try:
            return WindowScreen(title, scale=options.scale)
        except ScreenError:
            if options.screen == "window":
                raise
    # Not on Windows, where a terminal cannot do this: only imported where it is wanted.
    from rlaif.game.play.terminal import TerminalScreen

    return TerminalScreen(true_colour=os.environ.get("COLORTERM") in ("truecolor", "24bit"))


def _has_display() -> bool:
    named = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in named)
