import hashlib
import os

import pytest

from rlaif.game import cartridges
from rlaif.game.cartridges import CartridgeError, load_cartridge


@pytest.fixture
def rom_file(tmp_path, rom_maker):
    path = tmp_path / "game.gbc"
    path.write_bytes(rom_maker(title=b"MY GAME"))
    return path


def test_the_embedded_game_is_the_default():
    cartridge = load_cartridge()
    assert cartridge.title
    assert not cartridge.is_oracle_of_seasons
    assert cartridge.sha256 == hashlib.sha256(cartridge.data).hexdigest()
    assert cartridge.identity.rom_sha256 == cartridge.sha256


def test_a_rom_of_the_user_is_read_with_its_title(rom_file):
    cartridge = load_cartridge(rom_file)
    assert (cartridge.title, cartridge.path) == ("MY GAME", rom_file)
    assert not cartridge.needs_sound


def test_a_missing_rom_says_so_and_how_to_go_on(tmp_path):
    with pytest.raises(CartridgeError, match=r"no ROM at .*none to play the embedded game"):
        load_cartridge(tmp_path / "none.gbc")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_rom_says_why(rom_file):
    rom_file.chmod(0)
    with pytest.raises(CartridgeError, match="Permission denied"):
        load_cartridge(rom_file)


def test_a_folder_is_no_rom(tmp_path):
    with pytest.raises(CartridgeError, match="cannot read the ROM"):
        load_cartridge(tmp_path)


def test_a_rom_that_was_cut_off_is_refused(rom_file):
    rom_file.write_bytes(rom_file.read_bytes()[:0x4000])
    with pytest.raises(CartridgeError, match="16384 bytes, its header says 32768"):
        load_cartridge(rom_file)


def test_a_short_file_is_refused(rom_file):
    rom_file.write_bytes(b"hello")
    with pytest.raises(CartridgeError, match="5 bytes, too few"):
        load_cartridge(rom_file)


def test_a_text_is_not_a_game_boy_rom(rom_file):
    rom_file.write_bytes(b"a" * 0x8000)
    with pytest.raises(CartridgeError, match="is not a Game Boy ROM"):
        load_cartridge(rom_file)


def test_a_changed_header_is_damage(rom_file):
    data = bytearray(rom_file.read_bytes())
    data[0x104:0x10C] = cartridges._LOGO_START
    data[0x134] ^= 1
    rom_file.write_bytes(data)
    with pytest.raises(CartridgeError, match="is damaged: its header checksum"):
        load_cartridge(rom_file)


@pytest.mark.parametrize("name", ["Europe", "Japan", "Ages"])
def test_another_oracle_is_named_and_the_right_one_asked_for(rom_file, monkeypatch, name):
    # The real ROMs cannot be shipped: their digest is put in the place of this one's.
    full = next(n for n in cartridges.UNSUPPORTED_SHA1.values() if name in n)
    digest = hashlib.sha1(rom_file.read_bytes(), usedforsecurity=False).hexdigest()
    monkeypatch.setattr(cartridges, "UNSUPPORTED_SHA1", {digest: full})
    with pytest.raises(CartridgeError, match=rf"is {full[:10]}.*Oracle of Seasons \(USA\)"):
        load_cartridge(rom_file)


def test_oracle_of_seasons_is_recognised_and_gets_sound(rom_file, monkeypatch):
    digest = hashlib.sha1(rom_file.read_bytes(), usedforsecurity=False).hexdigest()
    monkeypatch.setattr(cartridges, "ORACLE_OF_SEASONS_SHA1", digest)
    cartridge = load_cartridge(rom_file)
    assert cartridge.is_oracle_of_seasons
    assert cartridge.needs_sound
