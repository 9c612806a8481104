"""`make play`: a window without a display (SDL's dummy driver), and no display at all."""

import os
import subprocess
import sys

import numpy as np
import pytest

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.play.session import PlayedEmulator
from rlaif.game.play.window import Command, ScreenError, WindowScreen

DEADLINE = 60.0


def played(*options, **environment):
    kept = {name: os.environ[name] for name in os.environ.keys() - {"DISPLAY", "WAYLAND_DISPLAY"}}
    return subprocess.run(
        [sys.executable, "-m", "rlaif.command", "play", *options],
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


def test_a_game_is_played_in_a_window():
    done = played("--frames", "40", "--speed", "0", "--mute", SDL_VIDEODRIVER="dummy")
    assert (done.returncode, done.stdout) == (0, "40 frames played\n"), done.stderr


def test_without_a_display_it_says_what_to_do():
    done = played("--frames", "40")
    assert done.returncode == 1
    assert "no display for a window. Run it in a desktop session" in done.stderr


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
