"""`make play` on a real terminal (a pty) and in a window without a display (SDL's dummy driver)."""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

import numpy as np
import pytest

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.play.screens import Command, ScreenError
from rlaif.game.play.session import PlayedEmulator
from rlaif.game.play.window import WindowScreen

DEADLINE = 60.0
FULL_BLOCKS = "\u2580".encode()


class Terminal:
    """A program on a terminal of 50 lines and 170 columns."""

    def __init__(self, *options):
        self.leader, follower = pty.openpty()
        fcntl.ioctl(self.leader, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 170, 0, 0))
        self.before = termios.tcgetattr(follower)
        self.program = subprocess.Popen(
            [sys.executable, "-m", "rlaif.game", "play", "--screen", "terminal", *options],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=os.environ | {"COLORTERM": "truecolor", "TERM": "xterm-256color"},
        )
        self.follower, self.output = follower, b""

    def read_until(self, done):
        """Read what it writes until `done(output)`."""
        end = time.monotonic() + DEADLINE
        while not done(self.output):
            assert time.monotonic() < end, self.output[-2000:]
            if select.select([self.leader], [], [], 0.05)[0]:
                self.output += os.read(self.leader, 65536)
            elif self.program.poll() is not None:
                break

    def type(self, keys):
        os.write(self.leader, keys)

    def close(self):
        if self.program.poll() is None:
            self.program.kill()
        self.program.wait(10)
        os.close(self.leader)
        os.close(self.follower)


@pytest.fixture
def terminal():
    opened = []

    def start(*options):
        opened.append(Terminal(*options))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def test_a_person_plays_saves_loads_and_records_on_a_terminal(terminal, tmp_path):
    state, recording = tmp_path / "my.state", tmp_path / "my.json"
    shown = terminal("--state-file", str(state), "--record", str(recording))
    shown.read_until(lambda out: out.count(FULL_BLOCKS) > 160 * 10)
    shown.type(b"\x1b[15~")
    shown.read_until(lambda out: b"saved " in out)
    assert state.stat().st_size > 100_000
    shown.type(b"\x1b[19~")
    shown.read_until(lambda out: b"loaded " in out)
    shown.type(b"\x1b[C")
    drawn = len(shown.output)
    shown.read_until(lambda out: len(out) > drawn)
    shown.type(b"z")
    time_to_act = time.monotonic() + 0.5
    shown.read_until(lambda out: time.monotonic() > time_to_act)
    shown.type(b"q")
    shown.read_until(lambda out: b"frames recorded" in out)
    assert shown.program.wait(20) == 0
    assert b"\x1b[?1049l" in shown.output
    assert termios.tcgetattr(shown.follower) == shown.before
    runs = json.loads(recording.read_text())["inputs"]
    assert sum(frames for buttons, frames in runs if "right" in buttons) == 8
    assert sum(frames for buttons, frames in runs if "a" in buttons) == 4
    again = subprocess.run(
        [
            sys.executable,
            "-m",
            "rlaif.game",
            "play",
            "--replay",
            str(recording),
            "--screen",
            "none",
        ],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    assert "the RAM is the same" in again.stdout


def test_a_person_quits_with_ctrl_c_and_has_the_terminal_back(terminal):
    shown = terminal()
    shown.read_until(lambda out: FULL_BLOCKS in out)
    shown.type(b"\x03")
    shown.read_until(lambda out: b"frames played" in out)
    assert shown.program.wait(20) == 0
    assert termios.tcgetattr(shown.follower) == shown.before


def test_a_recording_is_shown_again_on_the_terminal(terminal, tmp_path):
    recording = tmp_path / "short.json"
    first = terminal("--frames", "40", "--speed", "0", "--record", str(recording))
    first.read_until(lambda out: b"40 frames recorded" in out)
    again = terminal("--replay", str(recording), "--speed", "0")
    again.read_until(lambda out: b"40 frames replayed" in out)
    assert again.program.wait(20) == 0


def test_without_a_terminal_and_a_window_it_says_what_to_do():
    done = subprocess.run(
        [sys.executable, "-m", "rlaif.game", "play", "--screen", "terminal"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 1
    assert "no window and no terminal to play in" in done.stderr


@pytest.fixture
def window(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    opened = WindowScreen("Seedling", scale=1)
    yield opened
    opened.close()


def press(window, key, *, down):
    sdl = window._sdl
    event = sdl.SDL_Event()
    event.type = sdl.SDL_KEYDOWN if down else sdl.SDL_KEYUP
    event.key.keysym.sym = getattr(sdl, f"SDLK_{key}")
    assert sdl.SDL_PushEvent(event) == 1


def test_a_window_reads_keys_that_are_held_together(window):
    press(window, "RIGHT", down=True)
    press(window, "z", down=True)
    assert window.poll()[0] == {"right", "a"}
    assert window.poll()[0] == {"right", "a"}
    press(window, "RIGHT", down=False)
    press(window, "F5", down=True)
    held, commands = window.poll()
    assert (held, commands) == ({"a"}, [Command.SAVE])


def test_a_key_that_is_tapped_between_two_frames_counts_for_one(window):
    press(window, "RETURN", down=True)
    press(window, "RETURN", down=False)
    assert window.poll()[0] == {"start"}
    assert window.poll()[0] == frozenset()


def test_a_window_shows_the_picture(window):
    emulator = PlayedEmulator(load_cartridge().data)
    for _ in range(90):
        emulator.frame(frozenset(), render=True)
    picture = emulator.screen()
    emulator.close()
    window.show(picture)
    window.say("a line")
    sdl = window._sdl
    pixels = np.zeros((144, 160, 3), dtype=np.uint8)
    code = sdl.SDL_RenderReadPixels(
        window._renderer, None, sdl.SDL_PIXELFORMAT_RGB24, pixels.ctypes.data, 160 * 3
    )
    assert code == 0
    assert np.array_equal(pixels, picture)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 4


def test_a_window_plays_the_sound_and_never_lags_far_behind_it(window, monkeypatch):
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    rate, second = 48_000, np.ones((48_000, 2), dtype=np.int8)
    window.hear(second, rate)
    queued = window._sdl.SDL_GetQueuedAudioSize(window._speaker)
    assert 0 < queued <= second.nbytes
    window.hear(second, rate)
    assert window._sdl.SDL_GetQueuedAudioSize(window._speaker) <= queued


def test_a_machine_without_a_speaker_stays_silent(window, monkeypatch):
    monkeypatch.setenv("SDL_AUDIODRIVER", "no-such-driver")
    window.hear(np.ones((800, 2), dtype=np.int8), 48_000)
    assert window._speaker == 0


def test_no_display_is_said(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "no-such-driver")
    with pytest.raises(ScreenError, match="no display for a window"):
        WindowScreen("Seedling")
