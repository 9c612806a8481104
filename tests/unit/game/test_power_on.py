"""From power-on into play: START alone on real ROMs, Oracle of Seasons on a model of its screens.

The model does what the public disassembly says of the bytes and buttons of each screen; no ROM of
the game is at hand.
"""

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.machine.rom_checks import header_checksum
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control
from rlaif.game.starts.power_on import (
    ORACLE_STAGES,
    START_ALONE,
    BootStage,
    NoStartError,
    bring_to_control,
    play_stages,
    stages_of,
)

IN_PLAY = {
    "wGameState": 2, "wCutsceneIndex": 1, "w1Link.state": 1, "wScrollMode": 1, "wLinkHealth": 12,
}  # fmt: skip
SAVEFILE = b"Z11216-0"


def rom_that_asks_for_start(times: int) -> bytes:
    """A ROM that is in play, as the memory map sees it, after START was pressed so often."""
    rom = bytearray(0x8000)
    rom[0x40] = 0xD9  # reti: vertical blank only wakes the CPU
    rom[0x100:0x104] = bytes.fromhex("00 c35001")
    rom[0x134:0x138], rom[0x143] = b"ASKS", 0xC0
    rom[0x7000 : 0x7000 + len(SAVEFILE)] = SAVEFILE
    facts = {address(name): value for name, value in IN_PLAY.items()}
    facts |= {address("wSavefileString") + at: byte for at, byte in enumerate(SAVEFILE)}
    begin = bytes.fromhex("f3 31feff 3e01 e0ff 3e08 e085 af e086 fb")
    look = bytes.fromhex(
        "76 00"  # halt; nop: one turn a frame
        "3e10 e000 f000 f000 e608 47"  # b = 0 when START is down, else 8
        "f085 4f 78 e085"  # c = what it was in the last frame
    )
    count = bytes.fromhex("f086 3c e086") + bytes([0xFE, times])  # (0xFF86) += 1; so often?
    write = b"".join(
        bytes([0x3E, value, 0xEA, where & 0xFF, where >> 8]) for where, value in facts.items()
    )
    code = bytearray(begin + look)
    loop = len(begin)

    def back(opcode: int) -> bytes:
        """A jump to the next turn, by an opcode with a relative operand."""
        return bytes([opcode, (loop - len(code) - 2) & 0xFF])

    code += b"\x79\xb7"  # was it down before?
    code += back(0x28)
    code += b"\x78\xb7"  # is it down now?
    code += back(0x20)
    code += count
    code += back(0x20)
    code += write
    code += bytes([0xC3, (0x150 + loop) & 0xFF, (0x150 + loop) >> 8])
    rom[0x150 : 0x150 + len(code)] = code
    rom[0x14D] = header_checksum(rom)
    return bytes(rom)


@pytest.fixture
def asking(tmp_path) -> Iterator:
    started = []

    def make(times: int) -> tuple[Emulator, Cartridge]:
        path = tmp_path / "asks.gbc"
        path.write_bytes(rom_that_asks_for_start(times))
        cartridge = load_cartridge(path)
        started.append(Emulator(cartridge.data))
        return started[-1], cartridge

    yield make
    for emulator in started:
        emulator.close()


@pytest.mark.parametrize("times", [1, 2, 7])
def test_start_is_pressed_as_often_as_a_title_asks_for_it(asking, times):
    emulator, cartridge = asking(times)
    assert not has_control(read_blocks(emulator))
    bring_to_control(emulator, cartridge)
    assert has_control(read_blocks(emulator))
    assert emulator.read(0xFF86, 0xFF87)[0] == times


def test_the_same_rom_reaches_the_same_state(asking):
    states = []
    for _ in range(2):
        emulator, cartridge = asking(3)
        bring_to_control(emulator, cartridge)
        states.append(emulator.save_state())
    assert states[0] == states[1]


def test_a_game_that_start_alone_does_not_start_is_reported(asking):
    emulator, cartridge = asking(0)  # 256 presses, more than there is time for
    few = [replace(stage, frames=320) for stage in stages_of(cartridge)]
    with pytest.raises(NoStartError, match=r"after 320 frames .* START alone does not leave"):
        play_stages(emulator, few)


def test_the_embedded_game_is_started_by_start_alone():
    cartridge = load_cartridge()
    assert stages_of(cartridge) == START_ALONE
    emulator = Emulator(cartridge.data)
    bring_to_control(emulator, cartridge)
    assert has_control(read_blocks(emulator))
    emulator.close()


class OracleScreens:
    """The screens of Oracle of Seasons from power-on to the first control, as bytes and buttons.

    One generator is the game: each step of it is a frame, in which `self.pressed` holds the
    buttons that went down (the game looks at edges only).
    """

    has_banks = False

    def __init__(self, *, stuck: str = "", flickers: bool = False) -> None:
        """Play the screens.

        Args:
            stuck: Screen that ignores its buttons.
            flickers: Control shows for some frames between two scenes.
        """
        self.ram = bytearray(0x2000)
        self.frames = 0
        self.log: list[str] = []
        self._stuck, self._flickers = stuck, flickers
        self._down: Action | None = None
        self.pressed: set[Action] = set()
        self._game = self._play()

    def wram(self) -> bytes:
        return bytes(self.ram)

    def step(self, action: Action, frames: int) -> None:
        self._frame(action)
        for _ in range(frames - 2):
            self._frame(action)
        self._frame(None)

    def tick(self, frames: int) -> None:
        for _ in range(frames):
            self._frame(None)

    def _frame(self, action: Action | None) -> None:
        down = None if action is Action.NOP else action
        self.pressed.clear()
        if down is not None and down is not self._down:
            self.pressed.add(down)
        self._down = down
        self.frames += 1
        next(self._game)

    def _set(self, where: str | int, value: int) -> None:
        at = address(where) if isinstance(where, str) else where
        self.ram[at - 0xC000] = value

    def _wait(self, frames: int) -> Iterator[None]:
        for _ in range(frames):
            yield

    def _until(self, screen: str, *buttons: Action) -> Iterator[None]:
        """Stay on a screen until one of these buttons goes down; any other one is noted."""
        while True:
            if self.pressed & set(buttons) and screen != self._stuck:
                self.log.append(screen)
                yield
                return
            yield

    def _play(self) -> Iterator[None]:
        self._set(0xC2E0, 1)  # the intro's thread sleeps between its frames
        self._set(0xCBB3, 208)
        yield from self._wait(290)  # company screens: no button counts
        yield from self._until("cinematic", Action.START)
        self._set(0xCBB3, 1)  # the title counts down from 0x0960 in the bytes of the file screen,
        self._set(0xCBB4, 1)  # and passes mode 1, step 1 on its way
        yield from self._until("title", Action.START)
        yield from self._wait(40)
        self._set(0xC2E0, 0)
        self._set(0xCBB3, 0)
        self._set(0xCBB4, 0)
        yield from self._wait(3)
        has_file = False
        while not has_file:
            yield from self._show(1)
            yield from self._until("files", Action.A, Action.START)
            yield from self._show(5)
            yield from self._until("new file", Action.A, Action.START)
            has_file = yield from self._ask_for_a_name()
        yield from self._show(1)
        yield from self._until("the file", Action.A, Action.START)
        self._set(0xCBB4, 2)
        yield from self._until("message speed", Action.A, Action.START)
        self._set(0xCBB4, 3)
        yield from self._wait(40)
        yield from self._opening()

    def _show(self, mode: int) -> Iterator[None]:
        self._set(0xCBB3, mode)
        self._set(0xCBB4, 0)
        yield from self._wait(2)
        self._set(0xCBB4, 1)
        yield

    def _ask_for_a_name(self) -> Generator[None, None, bool]:
        letters, at_ok = 0, False
        self._set(0xCBBE, 0)
        yield from self._show(2)
        while True:
            if self._stuck != "name":
                if Action.A in self.pressed:
                    letters = min(letters + 1, 4)
                    self._set(0xCBBE, letters)
                    self.log.append("letter")
                if Action.START in self.pressed:
                    if at_ok:
                        break
                    at_ok = True
            yield
        self._set(0xCBB4, 2)
        yield
        return letters > 0

    def _opening(self) -> Iterator[None]:
        for at, byte in enumerate(SAVEFILE):
            self._set(address("wSavefileString") + at, byte)
        self._set("wGameState", 2)
        self._set("wCutsceneIndex", 0x0D)
        yield from self._wait(300)
        yield from self._text("the quest")
        self._set("wGameState", 0)
        self._set("wCutsceneIndex", 0)
        yield
        self._set("wGameState", 3)
        yield from self._wait(200)
        for name, value in IN_PLAY.items():
            self._set(name, value)
        if self._flickers:
            yield from self._wait(20)
        self._set("wUseSimulatedInput", 1)
        yield from self._wait(120)
        yield from self._text("Din")
        yield from self._text("Din again")
        self._set("wUseSimulatedInput", 0)
        while True:
            if self.pressed:
                self.log.append("a button in play")
            yield

    def _text(self, what: str) -> Iterator[None]:
        self._set("wTextIsActive", 1)
        yield from self._until(what, Action.A)
        self._set("wTextIsActive", 0)
        yield from self._wait(20)


@pytest.mark.parametrize("flickers", [False, True])
def test_oracle_of_seasons_is_led_through_its_screens_to_the_first_control(flickers):
    game: Any = OracleScreens(flickers=flickers)
    play_stages(game, ORACLE_STAGES)
    assert has_control(read_blocks(game))
    assert game.log == [
        "cinematic", "title", "files", "new file", "letter", "the file", "message speed",
        "the quest", "Din", "Din again",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stuck", "named"),
    [
        ("cinematic", "the company screens or the title"),
        ("title", "the company screens or the title"),
        ("files", "the choice of a file"),
        ("new file", "the choice of a file"),
        ("name", "the entry of a name"),
        ("the file", "the new file or its message speed"),
        ("message speed", "the new file or its message speed"),
        ("Din", "the opening scenes"),
    ],
)
def test_the_screen_on_which_the_game_stays_is_named(stuck, named):
    game: Any = OracleScreens(stuck=stuck)
    with pytest.raises(NoStartError, match=f"it still shows {named}"):
        play_stages(game, ORACLE_STAGES)
    assert game.frames <= sum(stage.frames + stage.steady for stage in ORACLE_STAGES)


def test_the_real_game_takes_the_way_through_the_files(tmp_path):
    cartridge = Cartridge(tmp_path, bytes(0x8000), "0" * 64, "ZELDA DIN", True)
    assert stages_of(cartridge) == ORACLE_STAGES


def test_what_does_not_last_ends_no_stage():
    looks = iter(range(10_000))
    stage = BootStage(
        screen="a flicker",
        is_over=lambda ram: next(looks) % 3 == 0,
        press=lambda ram: Action.NOP,
        frames=320,
        steady=64,
    )
    flickering: Any = OracleScreens()
    with pytest.raises(NoStartError, match="a flicker"):
        play_stages(flickering, [stage])
