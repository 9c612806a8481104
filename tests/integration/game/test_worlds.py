"""Generated worlds: a compiler makes the same bytes of their tables, and they can be played."""

import json

import pytest

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.worlds.making import make_world
from rlaif.game.worlds.tables import Kind


def quoted(text):
    return json.dumps(text).replace("\\u000c", "\\f")


def rows(name, kind, found):
    lines = [", ".join(map(str, map(int, row))) for row in found]
    return f"const {kind} {name}[] = {{{''.join(f'{{{line}}}, ' for line in lines)}{{0}}}};\n"


def write_sources(folder, tables):
    """The tables as C, as they would be written by hand."""
    c = '#include "ram.h"\n#include "rooms.h"\n#include "art.h"\n#include "texts.h"\n'
    for i, room in enumerate(tables.rooms):
        things = [
            f"{{O_{Kind(it.kind).name}, {it.pos}, {it.a + 0}, {it.b + 0}, {it.c}}}"
            for it in room.things
        ]
        c += f"static const room_object_t objects_{i}[] = {{{', '.join([*things, '{O_END}'])}}};\n"
    c += "const room_t rooms[] = {\n"
    for i, room in enumerate(tables.rooms):
        lines = "\n".join(map(quoted, room.rows))
        c += f"{{{room.group}, 0x{room.id:02X}, {quoted(room.name)},\n{lines},\nobjects_{i}}},\n"
    c += f"}};\nconst uint8_t room_count = {len(tables.rooms)};\n"
    seasons = "".join(
        f"{{{tile}, {{{', '.join(map(str, forms))}}}}}, " for tile, *forms in tables.seasons
    )
    c += f"const season_tile_t season_tiles[] = {{{seasons}{{0}}}};\n"
    c += rows("talk_rules", "talk_rule_t", tables.talks)
    c += rows("gifts", "gift_t", tables.gifts)
    c += rows("treasure_texts", "treasure_text_t", tables.prizes)
    c += f"const char title_map[] = {quoted(tables.title_map)};\n"
    (folder / "rooms.c").write_text(c)
    texts = ",\n".join(map(quoted, tables.texts))
    (folder / "texts.c").write_text(
        f'#include "texts.h"\nconst char *const texts[] = {{\n{texts}}};\n'
    )
    names = ("POOR", "LOCKED", "CHEST_SIDE", "BOSS_DOOR", "KEYHOLE", "HEAVY", "TURN")
    numbers = zip(names, tables.engine_texts, strict=True)
    (folder / "texts.h").write_text(
        "#ifndef TEXTS_H\n#define TEXTS_H\nenum {"
        + ", ".join(f"TEXT_{name} = {number}" for name, number in numbers)
        + "};\nextern const char *const texts[];\n#endif\n"
    )
    group, number, pos = tables.start
    (folder / "start.h").write_text(
        f"#define START_GROUP {group}\n#define START_ROOM {number}\n#define START_POS {pos}\n"
        f"#define WORLD_TITLE {{{', '.join(map(quoted, tables.title))}}}\n"
    )


def test_a_world_is_what_the_compiler_makes_of_its_tables(cartridge_program, tmp_path):
    made = make_world(7, 20)
    write_sources(tmp_path, made.tables)
    built = tmp_path / "built.gbc"
    options = ["--data", str(tmp_path), "--title", "W7-20", "--output", str(built)]
    cartridge_program("build.py", "--world", *options)
    assert built.read_bytes() == made.rom


@pytest.mark.parametrize(("seed", "rooms"), [(1, 20), (2, 30)])
def test_the_solution_of_a_world_takes_the_essence(
    cartridge_folder, monkeypatch, tmp_path, seed, rooms
):
    monkeypatch.syspath_prepend(cartridge_folder)
    from route import play
    from walker import Walker

    made = make_world(seed, rooms)
    made.write(tmp_path)
    walker = Walker(load_cartridge(tmp_path / "world.gbc"))
    assert play(walker, made.tables, made.legs) == ""
    assert (
        json.loads((tmp_path / "world.json").read_text())["rom_sha256"]
        == load_cartridge(tmp_path / "world.gbc").sha256
    )
    walker.emulator.close()
