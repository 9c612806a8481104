"""Manual play: the loop, saving and loading."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import SaveStateError
from rlaif.game.play.session import FramePace, PlayedEmulator, Session, play
from rlaif.game.play.window import Command
from rlaif.game.starts.savestates import origin_path, read_origin

A_FRAMES, UP_FRAMES, PAD = 0xFF83, 0xFF84, 0xFF82


@pytest.fixture
def session(tiny_rom):
    emulator = PlayedEmulator(tiny_rom)
    emulator.tick(200)
    sha256 = hashlib.sha256(tiny_rom).hexdigest()
    yield Session(emulator, Cartridge(Path("tiny.gb"), tiny_rom, sha256, "TINY", False))
    emulator.close()


def peek(session, address):
    return session.emulator.read(address, address + 1)[0]


def test_buttons_are_held_together_and_released_when_they_are_let_go(session):
    for _ in range(3):
        session.play(frozenset({"a", "up"}))
    assert (peek(session, A_FRAMES), peek(session, UP_FRAMES)) == (3, 3)
    session.play(frozenset({"up"}))
    session.play(frozenset())
    assert (peek(session, A_FRAMES), peek(session, UP_FRAMES)) == (3, 4)
    assert peek(session, PAD) == 0xFF


class ScriptedScreen:
    """Plays a script: what is held and asked for, frame by frame."""

    def __init__(self, script):
        self.script, self.said, self.pictures = iter(script), [], 0
        self.heard = []

    def poll(self):
        held, commands = next(self.script, ((), [Command.QUIT]))
        return frozenset(held), list(commands)

    def show(self, picture):
        self.pictures += 1

    def hear(self, samples, rate):
        self.heard.append((self.pictures, len(samples) / rate))

    def say(self, text):
        self.said.append(text)

    def close(self):
        pass


def test_the_loop_saves_loads_pauses_and_quits(session, tmp_path):
    path = tmp_path / "game.state"
    screen: Any = ScriptedScreen(
        [((), [Command.LOAD]), (("a",), [Command.SAVE]), (("a",), []), ((), [Command.LOAD]),
         (("a",), [Command.PAUSE]), (("a",), []), ((), [Command.PAUSE])]
    )  # fmt: skip
    play(session, screen, FramePace(0), path)
    assert screen.said[0] == "nothing saved yet: press F5 to save"
    assert screen.said[1:3] == [f"saved {path}", f"loaded {path}"]
    assert screen.pictures == 5
    assert peek(session, A_FRAMES) == 0


def test_each_frame_is_heard_unless_it_is_muted(tiny_rom, tmp_path):
    emulator = PlayedEmulator(tiny_rom, sound_emulated=True)
    emulator.tick(200)
    loud = Session(emulator, Cartridge(Path("tiny.gb"), tiny_rom, "0" * 64, "TINY", False))
    frame: tuple[tuple[str, ...], list[Command]] = ((), [])
    script = [frame, frame, ((), [Command.MUTE]), frame, ((), [Command.MUTE]), frame]
    screen: Any = ScriptedScreen(script)
    play(loud, screen, FramePace(0), tmp_path / "game.state")
    emulator.close()
    assert [picture for picture, _ in screen.heard] == [1, 2, 5, 6]
    assert all(seconds == pytest.approx(1 / 59.73, rel=0.01) for _, seconds in screen.heard)
    assert screen.said[0] == "muted: M unmutes"


def test_a_broken_state_file_is_reported_and_play_continues(session, tmp_path):
    path = tmp_path / "game.state"
    path.write_bytes(b"\x01 not a state")
    screen: Any = ScriptedScreen([((), [Command.LOAD]), ((), [])])
    play(session, screen, FramePace(0), path)
    assert "game.state: " in screen.said[0]
    assert screen.pictures == 2


def test_a_state_of_another_rom_is_refused_and_play_stands_where_it_stood(session, tmp_path):
    path = tmp_path / "game.state"
    session.save(path)
    origin = read_origin(path, path.read_bytes())
    assert origin is not None
    other = origin.model_copy(update={"title": "ELSE", "rom_sha256": "0" * 64})
    origin_path(path).write_text(other.model_dump_json())
    for _ in range(3):
        session.play(frozenset({"a"}))
    with pytest.raises(SaveStateError, match=r"state of another game: it was made with ELSE"):
        session.load(path)
    assert peek(session, A_FRAMES) == 3


def test_the_note_of_a_state_that_was_replaced_says_nothing(session, tmp_path):
    path = tmp_path / "game.state"
    session.save(path)
    session.play(frozenset({"a"}))
    path.write_bytes(session.emulator.save_state())
    assert read_origin(path, path.read_bytes()) is None
    session.load(path)


def test_the_pace_is_that_of_the_console_and_lost_time_is_not_made_up():
    now, slept = [0.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    pace = FramePace(1.0, lambda: now[0], sleep)
    for _ in range(60):
        now[0] += 0.005
        pace.wait()
    assert now[0] == pytest.approx(60 / 59.7275)
    now[0] += 5.0
    pace.wait()
    count = len(slept)
    pace.wait()
    assert len(slept) == count + 1
