"""`rlaif play [ROM]`: play in a window."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rlaif.files.failures import CommandError, command
from rlaif.files.options import finite, whole
from rlaif.game.machine.cartridges import CartridgeError, load_cartridge
from rlaif.game.machine.emulator import EmulatorError
from rlaif.game.play.session import FramePace, PlayedEmulator, Session, play
from rlaif.game.play.window import HELP, ScreenError, WindowScreen


@command("rlaif play", CartridgeError, EmulatorError)
def main(argv: Sequence[str] | None = None) -> int:
    """Play; the reason of an exit code other than 0 is one line on standard error.

    Returns:
        0 after playing, 1 if there is no display, 2 if a file cannot be used.
    """
    parser = argparse.ArgumentParser(
        prog="rlaif play", description="Play a game yourself.", epilog=HELP
    )
    add = parser.add_argument
    add("rom", type=Path, nargs="?", help="ROM (default: the embedded game)")
    add("--state", type=Path, help="save state to start from")
    add(
        "--state-file",
        type=Path,
        help="where F5 saves and F8 loads (default: var/play/TITLE.state)",
    )
    add("--scale", type=whole(1, 16), default=4, help="size of the window (default: %(default)s)")
    add(
        "--speed",
        type=finite(),
        default=1.0,
        help="speed factor; 0: unlimited (default: %(default)s)",
    )
    add("--mute", action="store_true", help="no sound (M toggles it otherwise)")
    add(
        "--frames",
        type=whole(),
        default=0,
        help="stop after this many frames; 0: never (default: %(default)s)",
    )
    try:
        frames = _play(parser.parse_args(argv))
    except ScreenError as error:
        raise CommandError(str(error), 1) from error
    sys.stdout.write(f"{frames} frames played\n")
    return 0


def _play(options: argparse.Namespace) -> int:
    # ROMs that training rejects can be played.
    cartridge = load_cartridge(options.rom, allow_modified=True, allow_unsupported=True)
    sound = cartridge.needs_sound or not options.mute
    emulator = PlayedEmulator(cartridge.data, sound_emulated=sound)
    try:
        session = Session(emulator, cartridge, options.state)
        name = "".join(c if c.isalnum() else "-" for c in cartridge.title.lower()) or "game"
        state_file = options.state_file or Path("var/play") / f"{name}.state"
        screen = WindowScreen(cartridge.title, scale=options.scale)
        try:
            play(session, screen, FramePace(options.speed), state_file, options.frames)
        except KeyboardInterrupt:
            pass  # Ctrl-C quits
        finally:
            screen.close()
    finally:
        emulator.close()
    return session.frames
