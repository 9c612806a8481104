"""The window of manual play: SDL2, which is installed with the emulator."""

import ctypes
import importlib
import os
import sys
import warnings
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.game.machine.emulator import SCREEN_SHAPE

HELP = (
    "arrows/WASD walk, Z/X are A/B, Enter START, Tab SELECT, F5 save, F8 load, P pause, M mute, "
    "Q quit"
)

_BUTTON_KEYS = {
    "up": ("UP", "w"), "down": ("DOWN", "s"), "left": ("LEFT", "a"), "right": ("RIGHT", "d"),
    "a": ("z", "SPACE"), "b": ("x",), "start": ("RETURN",), "select": ("TAB", "BACKSPACE"),
}  # fmt: skip
_WITHOUT = "Run it in a desktop session, or over ssh -X"
_LEAD = 0.2
"""Maximum seconds of queued sound; more is dropped, as it would lag behind."""


class Command(Enum):
    """A command of the player besides the buttons."""

    QUIT = "quit"
    SAVE = "save"
    LOAD = "load"
    PAUSE = "pause"
    MUTE = "mute"


class ScreenError(Exception):
    """No display is available; the message says what to do."""


_HEIGHT, _WIDTH, _ = SCREEN_SHAPE
_COMMAND_KEYS = {
    Command.SAVE: ("F5",),
    Command.LOAD: ("F8",),
    Command.PAUSE: ("p",),
    Command.MUTE: ("m",),
    Command.QUIT: ("q", "ESCAPE"),
}


class WindowScreen:
    """An SDL2 window, `scale` screen pixels per Game Boy pixel; its title shows messages."""

    def __init__(self, title: str, *, scale: int = 4) -> None:
        """Open a window; ScreenError if SDL2 is missing or finds no display."""
        if not _has_display():  # otherwise SDL may choose a driver without output
            raise ScreenError(f"no display for a window. {_WITHOUT}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about the library that it loads
                self._sdl: Any = importlib.import_module("sdl2")
        except ImportError as error:
            raise ScreenError(f"no SDL2 for a window: {error}. {_WITHOUT}") from error
        sdl = self._sdl
        if sdl.SDL_Init(sdl.SDL_INIT_VIDEO) != 0:
            raise ScreenError(f"no display for a window: {_reason(sdl)}. {_WITHOUT}")
        self._title = title
        place = sdl.SDL_WINDOWPOS_CENTERED
        self._window = sdl.SDL_CreateWindow(
            title.encode(), place, place, _WIDTH * scale, _HEIGHT * scale, sdl.SDL_WINDOW_RESIZABLE
        )
        if not self._window:
            raise ScreenError(f"no window: {_reason(sdl)}. {_WITHOUT}")
        self._renderer = sdl.SDL_CreateRenderer(self._window, -1, 0)
        sdl.SDL_RenderSetLogicalSize(self._renderer, _WIDTH, _HEIGHT)
        self._texture = sdl.SDL_CreateTexture(
            self._renderer,
            sdl.SDL_PIXELFORMAT_RGB24,
            sdl.SDL_TEXTUREACCESS_STREAMING,
            _WIDTH,
            _HEIGHT,
        )
        self._buttons = {
            getattr(sdl, f"SDLK_{key}"): name for name, keys in _BUTTON_KEYS.items() for key in keys
        }
        self._commands = {
            getattr(sdl, f"SDLK_{key}"): what
            for what, keys in _COMMAND_KEYS.items()
            for key in keys
        }
        self._down: set[int] = set()
        self._speaker: int | None = None  # opened by the first sound
        self.say(HELP)

    def poll(self) -> tuple[frozenset[str], list[Command]]:
        """The buttons pressed in the next frame, and the commands since the last call."""
        sdl, event, commands = self._sdl, self._sdl.SDL_Event(), list[Command]()
        pressed: set[int] = set()
        while sdl.SDL_PollEvent(ctypes.byref(event)):
            key = event.key.keysym.sym
            if event.type == sdl.SDL_QUIT:
                commands.append(Command.QUIT)
            elif event.type == sdl.SDL_KEYUP:
                self._down.discard(key)
            elif event.type == sdl.SDL_KEYDOWN and not event.key.repeat:
                pressed.add(key)
                self._down.add(key)
                if key in self._commands:
                    commands.append(self._commands[key])
        # A key pressed and released between two frames counts as pressed for one.
        held = {self._buttons[key] for key in self._down | pressed if key in self._buttons}
        return frozenset(held), commands

    def show(self, picture: npt.NDArray[np.uint8]) -> None:
        """Show `[144, 160, 3]` uint8 RGB."""
        sdl, pixels = self._sdl, np.ascontiguousarray(picture)
        sdl.SDL_UpdateTexture(
            self._texture, None, pixels.ctypes.data_as(ctypes.c_void_p), _WIDTH * 3
        )
        sdl.SDL_RenderClear(self._renderer)
        sdl.SDL_RenderCopy(self._renderer, self._texture, None, None)
        sdl.SDL_RenderPresent(self._renderer)

    def hear(self, samples: npt.NDArray[np.int8], rate: int) -> None:
        """Queue `[n, 2]` int8 samples; does nothing without an audio device."""
        sdl = self._sdl
        if self._speaker is None:
            self._speaker = self._open_speaker(rate)
        if not self._speaker or sdl.SDL_GetQueuedAudioSize(self._speaker) > 2 * rate * _LEAD:
            return
        data = np.ascontiguousarray(samples)
        sdl.SDL_QueueAudio(self._speaker, data.ctypes.data_as(ctypes.c_void_p), data.nbytes)

    def _open_speaker(self, rate: int) -> int:
        sdl = self._sdl
        if sdl.SDL_InitSubSystem(sdl.SDL_INIT_AUDIO) != 0:
            return 0
        wanted = sdl.SDL_AudioSpec(rate, sdl.AUDIO_S8, 2, 1024)
        device = int(sdl.SDL_OpenAudioDevice(None, 0, wanted, None, 0))
        if device:
            sdl.SDL_PauseAudioDevice(device, 0)
        return device

    def say(self, text: str) -> None:
        self._sdl.SDL_SetWindowTitle(self._window, f"{self._title}: {text}".encode())

    def close(self) -> None:
        sdl = self._sdl
        if self._speaker:
            sdl.SDL_CloseAudioDevice(self._speaker)
            sdl.SDL_QuitSubSystem(sdl.SDL_INIT_AUDIO)
        sdl.SDL_DestroyTexture(self._texture)
        sdl.SDL_DestroyRenderer(self._renderer)
        sdl.SDL_DestroyWindow(self._window)
        sdl.SDL_QuitSubSystem(sdl.SDL_INIT_VIDEO)


def _has_display() -> bool:
    named = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in named)


def _reason(sdl: Any) -> str:
    return str(sdl.SDL_GetError().decode())
