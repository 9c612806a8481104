"""What the encoder remembers never shows: its bits are those of the plain encoder."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.game import encoder_memo
from rlaif.game.blocks import RamBlocks
from rlaif.game.encoder import encode
from rlaif.game.encoder_memo import BatchEncoder, Encoder, Memory
from rlaif.game.memory_map import address

SIZE, LAYOUT_SIZE = 0x2000, 256


def random_ram(seed, zeros=0.5):
    rng = np.random.default_rng(seed)
    wram = rng.integers(0, 256, SIZE, dtype=np.uint8)
    wram[rng.random(SIZE) < zeros] = 0
    return RamBlocks(wram.tobytes(), rng.bytes(LAYOUT_SIZE))


def playing_ram():
    """In a dungeon, in control: the moment in which most bytes matter."""
    wram = bytearray(SIZE)
    for name, value in (
        ("wGameState", b"\x02\x01"), ("wSavefileString", b"Z11216-0"), ("w1Link.state", b"\x01"),
        ("wScrollMode", b"\x01"), ("wLinkHealth", b"\x08\x10"), ("wDungeonIndex", b"\x01\x09\x01"),
        ("wActiveGroup", b"\x04"), ("wActiveRoom", b"\x20"), ("w1Link.yh", b"\x38\x00\x48"),
        ("wActiveCollisions", b"\x03"),
    ):  # fmt: skip
        at = address(name) - 0xC000
        wram[at : at + len(value)] = value
    layout = bytearray(LAYOUT_SIZE)
    layout[64 + 9], layout[64 + 1], layout[64 + 10] = 0x20, 0x33, 0x44
    return RamBlocks(bytes(wram), bytes(layout))


def encoded(encoder, ram):
    out = np.full(128, np.nan, dtype=np.float32)
    encoder.encode_into(ram, out)
    return out.tobytes()


@pytest.mark.parametrize("base", [playing_ram(), random_ram(1), random_ram(2, 0.97)])
def test_no_single_byte_is_missed(base):
    encoder = Encoder()
    for at in range(SIZE + LAYOUT_SIZE):
        wram, layout = bytearray(base.wram), bytearray(base.dungeon_layout)
        changed, place = (wram, at) if at < SIZE else (layout, at - SIZE)
        changed[place] ^= 0xFF
        ram = RamBlocks(bytes(wram), bytes(layout))
        encoded(encoder, base)
        if encoder.scene_changed or at % 16 == 0 or encode(ram).tobytes() != encode(base).tobytes():
            assert encoded(encoder, ram) == encode(ram).tobytes(), hex(0xC000 + at)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, SIZE - 1), st.integers(0, 255))))
def test_any_order_of_moments_gives_the_same_bits(moments):
    encoder = Encoder()
    for seed, at, value in moments:
        base = random_ram(seed, 0.9)
        ram = RamBlocks(base.wram[:at] + bytes([value]) + base.wram[at + 1 :], base.dungeon_layout)
        assert encoded(encoder, ram) == encode(ram).tobytes()


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 2**20), min_size=1, max_size=9))
def test_a_batch_is_its_rows_one_by_one(seeds):
    rams = [random_ram(seed) for seed in seeds]
    encoder = BatchEncoder(len(rams))
    for shown in (rams, rams[::-1]):
        out = np.full((len(rams), 128), np.nan, dtype=np.float32)
        encoder.encode_into(shown, out)
        assert out.tobytes() == b"".join(encode(ram).tobytes() for ram in shown)


def test_it_says_whether_the_scene_changed():
    encoder, ram = Encoder(), playing_ram()
    encoded(encoder, ram)
    assert encoder.scene_changed
    encoded(encoder, ram)
    assert not encoder.scene_changed
    moved = bytearray(ram.wram)
    moved[address("w1Link.xh") - 0xC000] += 1
    encoded(encoder, RamBlocks(bytes(moved), ram.dungeon_layout))
    assert not encoder.scene_changed
    richer = bytearray(ram.wram)
    richer[address("wNumRupees") - 0xC000] += 1
    encoded(encoder, RamBlocks(bytes(richer), ram.dungeon_layout))
    assert encoder.scene_changed


def test_what_it_remembers_is_bounded(monkeypatch):
    for name in ("MOST_SCENES", "MOST_POSES", "MOST_ROSTERS", "MOST_PLACES"):
        monkeypatch.setattr(encoder_memo, name, 3)
    memory = Memory()
    encoder = Encoder(memory)
    for seed in range(40):
        ram = random_ram(seed)
        assert encoded(encoder, ram) == encode(ram).tobytes()
        for kept in (memory.scenes, memory.poses, memory.rosters, memory.places):
            assert len(kept) <= 4


def test_encoders_may_share_what_they_remember():
    memory = Memory()
    one, two = Encoder(memory), Encoder(memory)
    for seed in (1, 2, 1, 3):
        assert encoded(one, random_ram(seed)) == encoded(two, random_ram(seed))
    assert len(memory.scenes) == 3
