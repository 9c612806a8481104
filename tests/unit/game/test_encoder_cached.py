"""What the encoder remembers never shows: its bits are those of the plain encoder."""

import ast
import inspect

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.game.encoder import numba_look
from rlaif.game.encoder.numba_look import Encoder, EncoderCache
from rlaif.game.encoder.reference import encode
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.testing.data.written_ram import written_ram

SIZE, LAYOUT_SIZE = 0x2000, 256


def random_ram(seed, zeros=0.5):
    rng = np.random.default_rng(seed)
    wram = rng.integers(0, 256, SIZE, dtype=np.uint8)
    wram[rng.random(SIZE) < zeros] = 0
    return RamBlocks(wram.tobytes(), rng.bytes(LAYOUT_SIZE))


def playing_ram():
    """In a dungeon, in control: the moment in which most bytes matter."""
    layout = bytearray(LAYOUT_SIZE)
    layout[64 + 9], layout[64 + 1], layout[64 + 10] = 0x20, 0x33, 0x44
    return written_ram(
        ("wLinkHealth", b"\x08\x10"), ("wDungeonIndex", b"\x01\x09\x01"), ("wActiveGroup", 4),
        ("wActiveRoom", 0x20), ("w1Link.yh", b"\x38\x00\x48"), ("wActiveCollisions", 3),
        floor=bytes(layout),
    )  # fmt: skip


def encoded(encoder, ram):
    out = np.full(128, np.nan, dtype=np.float32)
    encoder.encode_into(ram.array(), np.frombuffer(ram.dungeon_layout, dtype=np.uint8), out)
    return out.tobytes()


@pytest.mark.parametrize("base", [playing_ram(), random_ram(1)])
def test_no_single_byte_is_missed(base):
    encoder = Encoder()
    for at in range(SIZE + LAYOUT_SIZE):
        wram, layout = bytearray(base.wram), bytearray(base.dungeon_layout)
        changed, place = (wram, at) if at < SIZE else (layout, at - SIZE)
        changed[place] ^= 0xFF
        ram = RamBlocks(bytes(wram), bytes(layout))
        encoded(encoder, base)
        other_scene = encoder.scene is not None or encode(ram).tobytes() != encode(base).tobytes()
        if other_scene or at % 16 == 0:
            assert encoded(encoder, ram) == encode(ram).tobytes(), hex(0xC000 + at)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, SIZE - 1), st.integers(0, 255))))
def test_any_order_of_moments_gives_the_same_bits(moments):
    encoder = Encoder()
    for seed, at, value in moments:
        base = random_ram(seed, 0.9)
        ram = RamBlocks(base.wram[:at] + bytes([value]) + base.wram[at + 1 :], base.dungeon_layout)
        assert encoded(encoder, ram) == encode(ram).tobytes()


def test_it_says_whether_the_scene_changed():
    encoder, ram = Encoder(), playing_ram()
    encoded(encoder, ram)
    assert encoder.scene == ram
    encoded(encoder, ram)
    assert encoder.scene is None
    moved = bytearray(ram.wram)
    moved[address("w1Link.xh") - 0xC000] += 1
    encoded(encoder, RamBlocks(bytes(moved), ram.dungeon_layout))
    assert encoder.scene is None
    richer = RamBlocks(bytes(moved), bytes(LAYOUT_SIZE))
    encoded(encoder, richer)
    assert encoder.scene == richer


def test_a_scene_of_zeros_is_a_scene():
    encoder = Encoder()
    encoded(encoder, RamBlocks(bytes(SIZE), bytes(LAYOUT_SIZE)))
    assert encoder.scene is not None


@pytest.mark.parametrize("at", [0, 1, 0x0FFF, 0x1FFF])
def test_it_says_whether_any_byte_changed(at):
    encoder, ram = Encoder(), playing_ram()
    other = bytearray(ram.wram)
    other[at] ^= 0x80
    encoded(encoder, ram)
    for shown, still in ((ram, True), (RamBlocks(bytes(other), ram.dungeon_layout), False)):
        for again in (still, True):
            encoded(encoder, shown)
            assert encoder.still == again


def test_it_knows_where_the_player_is():
    encoder, ram = Encoder(), playing_ram()
    encoded(encoder, ram)
    assert (encoder.x, encoder.y) == (0x48, 0x38)


def test_without_a_place_for_the_compiled_code_each_process_compiles(monkeypatch):
    compile_it = numba.njit

    def refusing(*signature, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_it(*signature, **options)

    monkeypatch.setattr(numba, "njit", refusing)
    made = numba_look.compiled_look.__wrapped__()
    monkeypatch.setattr(numba_look, "compiled_look", lambda: made)
    ram = random_ram(5)
    assert encoded(Encoder(), ram) == encode(ram).tobytes()


def test_what_it_remembers_is_bounded(monkeypatch):
    monkeypatch.setattr(numba_look, "MAX_CACHED", 3)
    cache = EncoderCache()
    encoder = Encoder(cache)
    for seed in range(40):
        ram = random_ram(seed)
        assert encoded(encoder, ram) == encode(ram).tobytes()
        for kept in (cache.places, cache.items, cache.flags, cache.cells):
            assert len(kept) <= 4


def test_encoders_may_share_what_they_remember():
    cache = EncoderCache()
    one, two = Encoder(cache), Encoder(cache)
    for seed in (1, 2, 1, 3):
        assert encoded(one, random_ram(seed)) == encoded(two, random_ram(seed))
    assert len(cache.places) == 3


def test_the_kernels_take_what_other_modules_say_as_argument():
    # numba keeps machine code until this one file changes, and the constants that `look` holds.
    tree = ast.parse(inspect.getsource(numba_look))
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    kernels = [part for part in vars(numba_look).values() if hasattr(part, "py_func")]
    assert len(kernels) >= 8
    for kernel in kernels:
        assert not imported & set(kernel.py_func.__code__.co_names), kernel.py_func.__name__
