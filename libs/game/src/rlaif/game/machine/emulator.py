"""The emulator: plays actions and provides RAM, screen and save states.

The only importer of pyboy. Errors:

    EmulatorError
    ├── BadRomError     PyBoy cannot run this ROM
    └── SaveStateError  the bytes are not a save state of this emulator version and mode
"""

import hashlib
import io
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.captures import EmulatorIdentity
from rlaif.game.machine.actions import BUTTONS, DIRECTIONS
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.real_time_clock import RealTimeClock, has_clock
from rlaif.game.machine.rom_checks import CARTRIDGE_TYPE, COLOUR_FLAG, RAM_SIZE_CODE
from rlaif.game.machine.states import States

with warnings.catch_warnings():
    # pyboy imports SDL2 for its windows, which warns on import; no window is ever opened here.
    warnings.simplefilter("ignore")
    import pyboy.core.cartridge.base_mbc as pyboy_cartridge
    import pyboy.core.ram as pyboy_ram
    from pyboy import PyBoy
    from pyboy.utils import STATE_VERSION as PYBOY_STATE_VERSION
    from pyboy.utils import PyBoyException

WRAM_START = 0xC000
WRAM_SIZE = 0x2000
"""Work RAM as a game sees it: fixed bank 0 at 0xC000, bank 1 at 0xD000."""

STATE_VERSION: int = PYBOY_STATE_VERSION
"""First byte of the save states that this PyBoy writes and reads."""

SCREEN_SHAPE = (144, 160, 3)
"""Rows, columns, RGB."""

_BANK_SIZE = 0x1000
_CART_BANK_SIZE = 0x2000
_ALL_BUTTONS = ("up", "down", "left", "right", "a", "b", "start", "select")
_LCDC = 0xFF40
_NO_LOG = 5
"""Above INFO (4), the highest of PyBoy's levels. PyBoy logs to standard output, where its lines
would mix with JSON; relevant errors are raised as well."""

_STATES = States()

_MBC2_TYPES = frozenset({0x05, 0x06})
_CART_RAM_BANKS = {0x00: 0, 0x03: 4, 0x04: 16, 0x05: 8}
"""Banks of cartridge RAM by the header's size code; 1 for all other codes."""


class EmulatorError(Exception):
    """Base class of emulator errors."""


class BadRomError(EmulatorError):
    """The emulator cannot run this ROM."""


class SaveStateError(EmulatorError):
    """The bytes are not a save state that this emulator can load."""


class Emulator:
    """One Game Boy: PyBoy without a window, files or real time. Not thread-safe.

    A d-pad action is held for the whole emulator step and released when the next one starts, so
    that repeating it walks without a gap. A, B and START are released for the last frame of the
    step, so that repeating one presses it again. With `frame_skip` 1 every button is held for the
    frame, and only another action releases it.

    PyBoy's delayed releases are not used: they are not in a save state, and a replay would miss
    them.

    Attributes:
        identity: Name, version and settings on which the RAM depends.
        has_banks: Work RAM has eight banks (a Game Boy Color game), not two.
        work_ram: All banks of work RAM, shared with PyBoy, `[32768]` or, without banks,
            `[8192]` uint8, read-only; they change while the game plays.
    """

    def __init__(self, rom: Path | bytes, *, sound_emulated: bool = False) -> None:
        """Boot a ROM; BadRomError if PyBoy rejects it. A `.ram` file beside it is not used.

        Emulating the sound chip is slower; some games wait for it (Oracle of Seasons does in a few
        transitions). It is part of the identity, because RAM may depend on it.
        """
        data = rom if isinstance(rom, bytes) else rom.read_bytes()
        try:
            self.has_banks = bool(data[COLOUR_FLAG] & 0x80)
            with _recorded_ram() as arrays:
                self._pyboy: Any = PyBoy(
                    io.BytesIO(data),
                    window="null",
                    no_input=True,  # no window events; the button calls still work
                    sound_emulated=sound_emulated,
                    log_level=_NO_LOG,
                    cgb=self.has_banks,
                )
        except (PyBoyException, IndexError, KeyError) as error:
            raise BadRomError(f"PyBoy cannot run this ROM: {error}") from error
        self._pyboy.set_emulation_speed(0)
        self._memory = self._pyboy.memory
        self._cart_ram_banks = _cart_ram_banks(data)
        self._clock = RealTimeClock(self._pyboy, data) if has_clock(data) else None
        self._held: str | None = None
        self.work_ram = np.frombuffer(self._find_work_ram(arrays), dtype=np.uint8)
        self._cart_ram = self._shared_cart_ram(arrays)
        self.identity = EmulatorIdentity(version=version("pyboy"), sound_emulated=sound_emulated)

    def step(self, action: int, frame_skip: int, *, render: bool = False) -> None:
        """Play one emulator step of `frame_skip` frames."""
        self._release()
        button = BUTTONS[action]
        if button is None:
            self._pyboy.tick(frame_skip, render, False)
            return
        self._pyboy.button_press(button)
        self._held = button
        if action in DIRECTIONS or frame_skip == 1:
            self._pyboy.tick(frame_skip, render, False)
            return
        self._pyboy.tick(frame_skip - 1, False, False)
        self._release()
        self._pyboy.tick(1, render, False)

    @property
    def screen_is_on(self) -> bool:
        return bool(self._memory[_LCDC] >= 0x80)

    def tick(self, frames: int, *, render: bool = False) -> None:
        self._release()
        self._pyboy.tick(frames, render, False)

    def wram(self) -> bytes:
        """A copy of 0xC000-0xDFFF with bank 1 at 0xD000: 8,192 bytes."""
        return self.work_ram[:WRAM_SIZE].tobytes()

    def read(self, start: int, stop: int) -> bytes:
        """Bytes `start` to `stop` (excluded) of the address space, as the CPU would see them."""
        return bytes(self._memory[start:stop])

    def read_bank(self, bank: int, start: int, stop: int) -> bytes:
        """Bytes of one bank of switchable memory, whether or not it is selected."""
        if WRAM_START <= start < stop <= WRAM_START + WRAM_SIZE:
            offset = bank * _BANK_SIZE + (start & (_BANK_SIZE - 1))
            return self.work_ram[offset : offset + stop - start].tobytes()
        # PyBoy rejects a banked slice that includes the last byte of its region.
        head = bytes(self._memory[bank, start : stop - 1]) if stop - start > 1 else b""
        return head + bytes((self._memory[bank, stop - 1],))

    def peek(self, bank: int | None, where: int) -> int:
        """One byte, for checks of the emulator; without a bank as the CPU sees it."""
        return int(self._memory[where if bank is None else (bank, where)])

    def poke(self, bank: int | None, where: int, value: int) -> None:
        self._memory[where if bank is None else (bank, where)] = value

    def save_state(self) -> bytes:
        """All state of the machine: 170 to 300 kB, 0.4 ms, or 18 in a process without numba."""
        if self._clock is None:
            return _STATES.save(self._pyboy)
        self._clock.count()
        return _STATES.save(self._pyboy, self._clock.without_host_time)

    def load_state(self, state: bytes) -> None:
        """Load a save state and release all eight buttons; 0.7 ms, or 6 without numba.

        Raises:
            SaveStateError: It is of another PyBoy version or mode, or truncated. The emulator may
                be partly loaded: load another state before using it.
        """
        if not state or state[0] != STATE_VERSION:
            found = f"version {state[0]}" if state else "no bytes"
            raise SaveStateError(
                f"save state has {found}, PyBoy {self.identity.version} reads version "
                f"{STATE_VERSION}: make the state again with this PyBoy"
            )
        try:
            if self._clock is None:
                _STATES.load(self._pyboy, state)
            else:
                _STATES.load(self._pyboy, self._clock.stopped(state))
                self._clock.resume(state)
        except (PyBoyException, AssertionError, OverflowError, ValueError) as error:
            raise SaveStateError(f"not a save state of this game and emulator: {error}") from error
        self._held = None
        for button in _ALL_BUTTONS:
            self._pyboy.button_release(button)

    def screen(self) -> npt.NDArray[np.uint8]:
        """The picture of the last rendered frame, `[144, 160, 3]` uint8 RGB."""
        picture: npt.NDArray[np.uint8] = self._pyboy.screen.ndarray[:, :, :3].copy()
        return picture

    def ram_digest(self) -> str:
        """SHA-256 of all work RAM banks, high RAM and all banks of cartridge RAM.

        Video memory and hardware registers are excluded, as rendering may change them. 0.1 ms.
        """
        digest = hashlib.sha256(self.work_ram.data)
        digest.update(self.read(0xFF80, 0xFFFF))
        if self._cart_ram is not None:
            digest.update(self._cart_ram)
        else:
            for bank in range(self._cart_ram_banks):
                digest.update(self.read_bank(bank, 0xA000, 0xC000))
        return digest.hexdigest()

    def close(self) -> None:
        self._pyboy.stop(save=False)

    def _release(self) -> None:
        if self._held is not None:
            self._pyboy.button_release(self._held)
            self._held = None

    def _find_work_ram(self, arrays: list[Any]) -> memoryview:
        size = _BANK_SIZE * (8 if self.has_banks else 2)
        for candidate in arrays:
            if len(candidate) == size:
                view = memoryview(candidate)
                if self._shows_in(view, WRAM_START, 0):
                    return view.toreadonly()
        raise EmulatorError(f"PyBoy {version('pyboy')} does not share its work RAM")

    def _shared_cart_ram(self, arrays: list[Any]) -> memoryview | None:
        """Shared cartridge RAM, checked at both ends; None if a mapper keeps it elsewhere."""
        last = self._cart_ram_banks - 1
        size = self._cart_ram_banks * _CART_BANK_SIZE
        for candidate in arrays:
            if not size or len(candidate) < size:
                continue
            view = memoryview(candidate)
            if self._shows_in(view, (0, 0xA000), 0) and self._shows_in(
                view, (last, 0xBFFE), size - 2
            ):
                return view[:size].toreadonly()
        return None

    def _shows_in(self, view: memoryview, where: int | tuple[int, int], offset: int) -> bool:
        kept = self._memory[where]
        self._memory[where] = kept ^ 0xFF
        shared = view[offset] == kept ^ 0xFF == self._memory[where]
        self._memory[where] = kept
        return bool(shared)


def new_emulator(game: Cartridge | bytes, *, sound_emulated: bool | None = None) -> Emulator:
    """Boot a game; the only function that chooses the emulator core.

    By default the sound chip is emulated for a cartridge that needs it, and not for a bare ROM.
    """
    if isinstance(game, bytes):
        return Emulator(game, sound_emulated=bool(sound_emulated))
    sound = game.needs_sound if sound_emulated is None else sound_emulated
    return Emulator(game.data, sound_emulated=sound)


def _cart_ram_banks(rom: bytes) -> int:
    if rom[CARTRIDGE_TYPE] in _MBC2_TYPES:
        return 1  # its 512 half bytes are in the mapper, the header says 0
    return _CART_RAM_BANKS.get(rom[RAM_SIZE_CODE], 1)


_RECORDING = threading.Lock()


@contextmanager
def _recorded_ram() -> Iterator[list[Any]]:
    """Collect the arrays that PyBoy allocates for its memory in its constructor.

    PyBoy's API returns RAM as lists: 330 µs for the 8 KiB that an emulator step reads. It keeps RAM
    in `array.array` objects, from which the same bytes take 1 µs.
    """
    arrays: list[Any] = []
    original: Callable[..., Any] = pyboy_ram.array
    module = pyboy_cartridge.array

    def record(*args: Any) -> Any:
        made = original(*args)
        arrays.append(made)
        return made

    with _RECORDING:
        pyboy_ram.array = record
        pyboy_cartridge.array = SimpleNamespace(array=record)
        try:
            yield arrays
        finally:
            pyboy_ram.array = original
            pyboy_cartridge.array = module
