import hashlib
import os

import pytest

from rlaif.game.machine import cartridges
from rlaif.game.machine.cartridges import CartridgeError, load_cartridge
from rlaif.game.machine.rom_checks import header_checksum

LOGO_START = bytes.fromhex("ceed6666cc0d000b")
US, EUROPE, JAPAN = b"ZELDA DIN\0\0AZ7E", b"ZELDA DIN\0\0AZ7P", b"ZELDA DIN\0\0AZ7J"
AGES = b"ZELDA NAYRUAZ8E"
SUPPORTED = r"Use Oracle of Seasons \(USA\), SHA-1 ba1268290fb2b1b70505d2d7b5825fc8a4816a4b"


@pytest.fixture
def rom_file(tmp_path, rom_maker):
    path = tmp_path / "game.gbc"
    path.write_bytes(rom_maker(title=b"MY GAME"))
    return path


@pytest.fixture
def oracle_file(tmp_path, rom_maker):
    """Writes a file with the header of an Oracle game and nothing else of it."""

    def write(title, *, size_code=5, cut=0):
        data = bytearray(rom_maker(title=title).ljust(0x8000 << size_code, b"\xff"))
        data[0x148] = size_code
        data[0x14D] = header_checksum(data)
        path = tmp_path / "oracle.gbc"
        path.write_bytes(data[: len(data) - cut])
        return path

    return write


def sha1_of(path):
    return hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()


def test_the_embedded_game_is_the_default():
    cartridge = load_cartridge()
    assert cartridge.title
    assert cartridge.game == "seedling-vale"
    assert not cartridge.is_oracle_of_seasons
    assert cartridge.sha256 == hashlib.sha256(cartridge.data).hexdigest()
    assert cartridge.identity.rom_sha256 == cartridge.sha256


def test_the_embedded_game_is_known_by_its_bytes_wherever_it_lies(tmp_path):
    path = tmp_path / "copy.gbc"
    path.write_bytes(load_cartridge().data)
    assert load_cartridge(path).game == "seedling-vale"


def test_a_rom_of_the_user_is_read_with_its_title(rom_file):
    cartridge = load_cartridge(rom_file)
    assert (cartridge.title, cartridge.path) == ("MY GAME", rom_file)
    assert cartridge.game == "other"
    assert not cartridge.needs_sound


def test_oracle_of_seasons_for_the_usa_is_recognised_and_gets_sound(oracle_file, monkeypatch):
    # The real ROM cannot be shipped: the digest of this one is put in its place.
    path = oracle_file(US)
    monkeypatch.setattr(cartridges, "ORACLE_OF_SEASONS_SHA1", sha1_of(path))
    cartridge = load_cartridge(path)
    assert (cartridge.game, cartridge.title) == ("oracle-of-seasons", "ZELDA DIN")
    assert cartridge.is_oracle_of_seasons
    assert cartridge.needs_sound
    assert not cartridge.is_modified


@pytest.mark.parametrize("name", ["Europe", "Japan", "Ages"])
def test_another_oracle_is_named_and_the_right_one_asked_for(rom_file, monkeypatch, name):
    full = next(n for n in cartridges.UNSUPPORTED_SHA1.values() if name in n)
    monkeypatch.setattr(cartridges, "UNSUPPORTED_SHA1", {sha1_of(rom_file): full})
    with pytest.raises(CartridgeError, match=rf"is {full[:10]}.*{SUPPORTED}"):
        load_cartridge(rom_file, allow_modified=True)


@pytest.mark.parametrize(
    ("title", "named"),
    [
        (EUROPE, r"is Oracle of Seasons of another region \(AZ7P\)"),
        (JAPAN, r"is Oracle of Seasons of another region \(AZ7J\)"),
        (AGES, r"is Oracle of Ages \(game code AZ8E\)"),
    ],
)
def test_another_oracle_with_changed_bytes_is_known_by_its_header(oracle_file, title, named):
    with pytest.raises(CartridgeError, match=f"{named}.*{SUPPORTED}"):
        load_cartridge(oracle_file(title), allow_modified=True)


def test_a_randomizer_is_refused_with_both_digests_and_the_way_to_allow_it(oracle_file):
    path = oracle_file(US)
    with pytest.raises(CartridgeError, match=f"SHA-1 {sha1_of(path)}.*a randomizer, a hack or a "):
        load_cartridge(path)


def test_a_randomizer_is_taken_on_request_and_said_to_be_modified(oracle_file):
    cartridge = load_cartridge(oracle_file(US), allow_modified=True)
    assert cartridge.is_modified
    assert cartridge.game == "oracle-of-seasons"
    assert cartridge.needs_sound


def test_a_trimmed_rom_is_refused_with_both_sizes(oracle_file):
    with pytest.raises(
        CartridgeError, match=r"1000000 bytes, its header says 1048576: .*cut off or trimmed"
    ):
        load_cartridge(oracle_file(US, cut=48576), allow_modified=True)


def test_a_padded_rom_is_refused(rom_file):
    rom_file.write_bytes(rom_file.read_bytes() * 2)
    with pytest.raises(CartridgeError, match=r"65536 bytes, its header says 32768: .*padded"):
        load_cartridge(rom_file)


def test_an_unknown_size_code_is_refused(rom_file):
    data = bytearray(rom_file.read_bytes())
    data[0x148] = 0x52
    data[0x14D] = header_checksum(data)
    rom_file.write_bytes(data)
    with pytest.raises(CartridgeError, match="unknown ROM size code 0x52"):
        load_cartridge(rom_file)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file: run as an ordinary user")
def test_an_unreadable_rom_says_why(rom_file):
    rom_file.chmod(0)
    with pytest.raises(CartridgeError, match="Permission denied"):
        load_cartridge(rom_file)


def test_a_path_that_cannot_be_followed_says_why(rom_file):
    with pytest.raises(CartridgeError, match=r"cannot read the ROM .*: Not a directory"):
        load_cartridge(rom_file / "game.gbc")


@pytest.mark.parametrize("size", [0x2000, 0x2030])
def test_a_battery_save_is_no_rom(rom_file, size):
    rom_file.write_bytes(bytes(0x10) + b"Z11216-0" + bytes(size - 0x18))
    with pytest.raises(CartridgeError, match=r"battery save.*give the \.gbc file"):
        load_cartridge(rom_file)


@pytest.mark.parametrize(
    ("start", "what"),
    [(b"PK\x03\x04", "ZIP"), (b"\x1f\x8b", "gzip"), (b"7z\xbc\xaf", "7-Zip"), (b"Rar!", "RAR")],
)
def test_an_archive_is_to_be_unpacked(rom_file, start, what):
    rom_file.write_bytes(start + bytes(0x8000))
    with pytest.raises(CartridgeError, match=f"is a {what} archive: unpack it"):
        load_cartridge(rom_file)


def test_a_bad_header_checksum_is_damage(rom_file):
    data = bytearray(rom_file.read_bytes())
    data[0x104:0x10C] = LOGO_START
    data[0x134] ^= 1
    rom_file.write_bytes(data)
    with pytest.raises(CartridgeError, match=r"is damaged: its header checksum is 0x.*computed 0x"):
        load_cartridge(rom_file)
