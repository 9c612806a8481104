"""The emulator: plays actions, gives its RAM, its screen and its save states.

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
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rlaif.contracts.captures import EmulatorIdentity
from rlaif.game.machine.actions import BUTTONS, DIRECTIONS
from rlaif.game.machine.real_time_clock import RealTimeClock, has_clock
from rlaif.game.machine.rom_checks import CARTRIDGE_TYPE, COLOUR_FLAG, RAM_SIZE_CODE

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
"""Above INFO (4), which PyBoy counts as the most urgent of its levels. It prints its log on
standard output, where it would stand between lines of JSON; what matters of it is raised, too."""

_MBC2_TYPES = frozenset({0x05, 0x06})
_MBC2_RAM = 512
_CART_RAM_BANKS = {0x00: 0, 0x03: 4, 0x04: 16, 0x05: 8}
"""Banks of cartridge RAM by the header's size code, 1 for any other."""


class EmulatorError(Exception):
    """Base of what an emulator raises."""


class BadRomError(EmulatorError):
    """The emulator cannot run this ROM."""


class SaveStateError(EmulatorError):
    """The bytes are not a save state that this emulator can load."""


class Emulator(Protocol):
    """One Game Boy. Not safe to use from two threads at once."""

    @property
    def identity(self) -> EmulatorIdentity:
        """Name, version and settings on which the RAM depends."""
        ...

    @property
    def has_banks(self) -> bool:
        """Whether work RAM has eight banks (a Game Boy Color game) or only two."""
        ...

    @property
    def screen_is_on(self) -> bool: ...

    @property
    def work_ram(self) -> npt.NDArray[np.uint8] | None:
        """All banks of work RAM where they lie, read-only; None when they are not shared."""
        ...

    def step(self, action: int, frame_skip: int, *, render: bool = False) -> None:
        """Play one decision step of `frame_skip` frames."""
        ...

    def tick(self, frames: int, *, render: bool = False) -> None:
        """Play frames with no button held."""
        ...

    def wram(self) -> bytes:
        """A copy of 0xC000-0xDFFF with bank 1 at 0xD000: 8,192 bytes."""
        ...

    def read(self, start: int, stop: int) -> bytes:
        """Bytes `start` to `stop` (excluded) of the address space, as the CPU would see them."""
        ...

    def read_bank(self, bank: int, start: int, stop: int) -> bytes:
        """The same of one bank of switchable memory, whichever is selected now."""
        ...

    def save_state(self) -> bytes:
        """Everything that decides what comes next; about 33 ms."""
        ...

    def load_state(self, state: bytes) -> None:
        """Go to a saved state with no button held; about 10 ms."""
        ...

    def screen(self) -> npt.NDArray[np.uint8]:
        """The picture of the last rendered frame, `[144, 160, 3]` uint8 RGB."""
        ...

    def ram_digest(self) -> str:
        """SHA-256 of the memory in which a game keeps its state."""
        ...

    def close(self) -> None: ...


class PyBoyEmulator:
    """PyBoy without a window, without files and without real time.

    A d-pad action is held for the whole decision step and released when the next one starts, so
    that repeating it walks on without a gap. A, B and START are released for the last frame of the
    step, so that repeating one presses it again (a new edge). With `frame_skip` 1 there is no such
    last frame: then every button is held for the frame, and only another action releases it.

    Presses and releases are explicit and take effect before the next frame. PyBoy's delayed
    releases are not used: they are not in a save state, and a replay would miss them.
    """

    def __init__(self, rom: Path | bytes, *, sound_emulated: bool = False) -> None:
        """Boot a ROM. A `.ram` file beside it is neither read nor written.

        Emulating the sound chip is slower; some games wait for it (Oracle of Seasons does in a few
        transitions). It is part of the identity, because RAM may depend on it.

        Raises:
            BadRomError: PyBoy refuses the ROM.
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
        self._cart_ram_bytes = _MBC2_RAM if data[CARTRIDGE_TYPE] in _MBC2_TYPES else _CART_BANK_SIZE
        self._clock = RealTimeClock(self._pyboy, data) if has_clock(data) else None
        self._held: str | None = None
        self._work_ram = self._shared_work_ram(arrays)
        self._cart_ram = self._shared_cart_ram(arrays)
        self.identity = EmulatorIdentity(version=version("pyboy"), sound_emulated=sound_emulated)

    def step(self, action: int, frame_skip: int, *, render: bool = False) -> None:
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
    def work_ram(self) -> npt.NDArray[np.uint8] | None:
        """All banks of work RAM where they lie: `[32768]` or, without banks, `[8192]` uint8.

        Read-only, and changing while the game plays. None when this PyBoy keeps it elsewhere.
        """
        return None if self._work_ram is None else np.frombuffer(self._work_ram, dtype=np.uint8)

    @property
    def screen_is_on(self) -> bool:
        return self._memory[_LCDC] >= 0x80  # type: ignore[no-any-return]  # pyboy has no types

    def tick(self, frames: int, *, render: bool = False) -> None:
        self._release()
        self._pyboy.tick(frames, render, False)

    def wram(self) -> bytes:
        if self._work_ram is not None:
            return self._work_ram[:WRAM_SIZE].tobytes()
        return self._read_wram_bank(0) + self._read_wram_bank(1)

    def read(self, start: int, stop: int) -> bytes:
        return bytes(self._memory[start:stop])

    def read_bank(self, bank: int, start: int, stop: int) -> bytes:
        """Bytes of one bank of switchable memory; about 40 ns a byte.

        PyBoy refuses a banked slice that touches the last byte of its region, so that byte is
        read alone.
        """
        if self._work_ram is not None and WRAM_START <= start < stop <= WRAM_START + WRAM_SIZE:
            offset = bank * _BANK_SIZE + (start & (_BANK_SIZE - 1))
            return self._work_ram[offset : offset + stop - start].tobytes()
        head = bytes(self._memory[bank, start : stop - 1]) if stop - start > 1 else b""
        return head + bytes((self._memory[bank, stop - 1],))

    def poke(self, bank: int | None, where: int, value: int) -> None:
        """Write one byte for a check of the emulator; without a bank as the CPU would."""
        self._memory[where if bank is None else (bank, where)] = value

    @property
    def memories(self) -> dict[str, tuple[int | None, int, int]]:
        """What `ram_digest` covers: name → (bank, first address, last address)."""
        told: dict[str, tuple[int | None, int, int]] = {
            "work RAM bank 0": (None, WRAM_START, WRAM_START + _BANK_SIZE - 1),
        }
        switched = WRAM_START + _BANK_SIZE
        for bank in range(1, 8 if self.has_banks else 2):
            banked = bank if self.has_banks else None
            told[f"work RAM bank {bank}"] = (banked, switched, switched + _BANK_SIZE - 1)
        told["high RAM"] = (None, 0xFF80, 0xFFFE)
        for bank in range(self._cart_ram_banks):
            told[f"cartridge RAM bank {bank}"] = (bank, 0xA000, 0xA000 + self._cart_ram_bytes - 1)
        return told

    def save_state(self) -> bytes:
        """Everything that decides what comes next: 170 to 300 kB, about 33 ms.

        A held direction is in it; `load_state` lets it go, as the next `step` here would.
        """
        if self._clock is not None:
            self._clock.count()
        buffer = io.BytesIO()
        self._pyboy.save_state(buffer)
        state = buffer.getvalue()
        return state if self._clock is None else self._clock.without_host_time(state)

    def load_state(self, state: bytes) -> None:
        """Go to a saved state and release all eight buttons; about 10 ms.

        Raises:
            SaveStateError: Of another PyBoy version or mode, or cut off. The emulator may be half
                loaded then: load another state before using it on.
        """
        if not state or state[0] != STATE_VERSION:
            found = f"version {state[0]}" if state else "no bytes"
            raise SaveStateError(
                f"save state has {found}, PyBoy {self.identity.version} reads version "
                f"{STATE_VERSION}: make the state again with this PyBoy"
            )
        try:
            if self._clock is None:
                self._pyboy.load_state(io.BytesIO(state))
            else:
                self._pyboy.load_state(io.BytesIO(self._clock.stopped(state)))
                self._clock.go_on(state)
        except (PyBoyException, AssertionError, OverflowError, ValueError) as error:
            raise SaveStateError(f"not a save state of this game and emulator: {error}") from error
        self._held = None
        for button in _ALL_BUTTONS:
            self._pyboy.button_release(button)

    def screen(self) -> npt.NDArray[np.uint8]:
        picture: npt.NDArray[np.uint8] = self._pyboy.screen.ndarray[:, :, :3].copy()
        return picture

    def ram_digest(self) -> str:
        """SHA-256 of all work RAM banks, high RAM and all banks of cartridge RAM.

        Video memory and hardware registers are left out: rendering may touch them, games keep
        their state elsewhere. About 0.1 ms.
        """
        digest = hashlib.sha256()
        if self._work_ram is not None:
            digest.update(self._work_ram)
        else:
            for bank in range(8 if self.has_banks else 2):
                digest.update(self._read_wram_bank(bank))
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

    def _read_wram_bank(self, bank: int) -> bytes:
        start = WRAM_START if bank == 0 else WRAM_START + _BANK_SIZE
        if self.has_banks:
            head = bytes(self._memory[bank, start : start + _BANK_SIZE - 1])
            return head + bytes((self._memory[bank, start + _BANK_SIZE - 1],))
        return bytes(self._memory[start : start + _BANK_SIZE])

    def _shared_work_ram(self, arrays: list[Any]) -> memoryview | None:
        """The memory in which PyBoy keeps work RAM, when writing through its API shows in it."""
        size = _BANK_SIZE * (8 if self.has_banks else 2)
        for candidate in arrays:
            if len(candidate) != size:
                continue
            view = memoryview(candidate)
            kept = self._memory[WRAM_START]
            self._memory[WRAM_START] = kept ^ 0xFF
            shared = view[0] == kept ^ 0xFF
            self._memory[WRAM_START] = kept
            if shared:
                return view.toreadonly()
        return None

    def _shared_cart_ram(self, arrays: list[Any]) -> memoryview | None:
        """The same for cartridge RAM: its banks one after the other, proved at both ends."""
        last = self._cart_ram_banks - 1
        size = self._cart_ram_banks * _CART_BANK_SIZE
        places = ((0, 0xA000, 0), (last, 0xBFFE, size - 2))
        for candidate in arrays:
            if not size or len(candidate) < size:
                continue
            view = memoryview(candidate)
            if all(self._shows_in(view, *place) for place in places):
                return view[:size].toreadonly()
        return None

    def _shows_in(self, view: memoryview, bank: int, address: int, offset: int) -> bool:
        kept = self._memory[bank, address]
        self._memory[bank, address] = kept ^ 0xFF
        shared = view[offset] == kept ^ 0xFF == self._memory[bank, address]
        self._memory[bank, address] = kept
        return bool(shared)


def _cart_ram_banks(rom: bytes) -> int:
    if rom[CARTRIDGE_TYPE] in _MBC2_TYPES:
        return 1  # its 512 half bytes are in the mapper, the header says 0
    return _CART_RAM_BANKS.get(rom[RAM_SIZE_CODE], 1)


_RECORDING = threading.Lock()


@contextmanager
def _recorded_ram() -> Iterator[list[Any]]:
    """Collect the arrays that PyBoy makes for its memory while it is built.

    PyBoy gives RAM as lists, 40 ns a byte: 330 µs for the 8 KiB that a decision step reads, more
    than emulating it takes. It keeps work RAM in an `array.array` for all its life, so holding on
    to that array reads the same bytes in 1 µs. Cartridge RAM is kept in the same way. Whether
    they are is proved on each new emulator (`_shared_work_ram`, `_shared_cart_ram`); if a PyBoy
    changes this, lists are read as before.
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
