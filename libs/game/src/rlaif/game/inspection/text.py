"""The facts of `inspection` as text for people."""

from collections.abc import Iterator
from typing import Any

_RAW_BYTES = 8
_SHOWN_VALUES = 12
_LONGEST_LIST = 16
_HEX_DIGITS = "0123456789ABCDEF"
_GAMES = {
    "oracle-of-seasons": "Oracle of Seasons (USA)",
    "seedling-vale": "the embedded game",
    "other": "another game: nothing is known of its memory",
}


def as_text(facts: dict[str, Any], *, show_all: bool = False) -> str:
    """What `inspect --json` prints, a paragraph a topic; `show_all` adds the symbols that are 0."""
    lines = [*_rom(facts["rom"])]
    if "state" in facts:
        lines += [f"Save state  {facts['state']['path']}, {facts['state']['size_bytes']} bytes"]
    if "note" in facts:
        lines += ["", facts["note"]]
    if "moment" in facts:
        lines += _moment(facts)
        lines += _symbols(facts["symbols"], show_all)
        lines += _map(facts)
        lines += _milestones(facts["milestones"])
    return "\n".join(lines) + "\n"


def _rom(rom: dict[str, Any]) -> Iterator[str]:
    modified = ", modified" if rom["modified"] else ""
    yield f"ROM         {rom['title']}: {_GAMES[rom['game']]}{modified}"
    yield f"            {rom['size_bytes']} bytes, SHA-1 {rom['sha1']}"


def _moment(facts: dict[str, Any]) -> Iterator[str]:
    true = [name.replace("_", " ") for name, holds in facts["moment"].items() if holds]
    yield ""
    yield f"Moment      {', '.join(true) or 'no file is loaded'}"
    for topic, told in facts["summary"].items():
        yield f"{topic:<12}{told}"
    if facts["puzzle"]:
        to_do = (f"{e['kind']} at column {e['column']} row {e['row']}" for e in facts["puzzle"])
        yield f"To solve    {', '.join(to_do)}"


def _symbols(groups: dict[str, list[dict[str, Any]]], show_all: bool) -> Iterator[str]:
    for group, symbols in groups.items():
        shown = [symbol for symbol in symbols if show_all or symbol["raw"].strip("0")]
        hidden = len(symbols) - len(shown)
        more = f"  ({hidden}{' more' if shown else ''} are 0: --all)" if hidden else ""
        yield ""
        yield f"{group.capitalize()}{more}"
        for symbol in shown:
            yield _symbol(symbol)


def _symbol(symbol: dict[str, Any]) -> str:
    place = f"{symbol['bank']}:{symbol['address'][2:]}"
    data = symbol["raw"].upper()
    shown = data[: 2 * _RAW_BYTES] + ("…" if len(data) > 2 * _RAW_BYTES else "")
    value = _value(symbol["encoding"], symbol["value"])
    return (
        f"  {place}  {symbol['name']:<29} {shown:<17} {value:<16} "
        f"[{symbol['confidence']}] {symbol['meaning']}"
    )


def _value(encoding: str, value: Any) -> str:
    if value is None:
        return "none"
    if not isinstance(value, list):
        return str(value)
    if encoding == "tile":
        return f"column {value[0]} row {value[1]}"
    if encoding == "pointers":
        return ",".join(f"{pointer:04X}" for pointer in value) or "none"
    if encoding == "bytes" and len(value) > _LONGEST_LIST:
        return f"{sum(byte != 0 for byte in value)} not 0"
    shown = ",".join(str(item) for item in value[:_SHOWN_VALUES])
    shown += "…" if len(value) > _SHOWN_VALUES else ""
    return f"{{{shown}}}" if encoding in ("bits", "set") else shown


def _map(facts: dict[str, Any]) -> Iterator[str]:
    yield ""
    yield "Room        ## solid  .. free  ~~ hole, water or lava  @ the player"
    yield from (f"  {line}" for line in facts["room_map"])
    for told in facts["objects"]:
        name = f" {told['name']}" if "name" in told else ""
        health = f", health {told['health']}" if told["kind"] == "enemy" else ""
        yield (
            f"  {told['mark']}  {told['kind']} {told['id']}.{told['subid'][2:]}{name} at "
            f"x {told['x']} y {told['y']}{health}, object {told['slot']}"
        )
    yield ""
    if facts["visited_map"]:
        yield "Rooms       ## visited  .. not visited  @@ here"
        yield from _labelled(facts["visited_map"])
    else:
        yield "Rooms       this room lies on no map"


def _labelled(lines: list[str]) -> Iterator[str]:
    """Room 0xYX stands in row Y, column X of a map of 16x16 rooms."""
    if len(lines) != len(_HEX_DIGITS):
        yield from (f"  {line}" for line in lines)
        return
    yield f"    {' '.join(_HEX_DIGITS)}"
    yield from (f"  {row} {line}" for row, line in zip(_HEX_DIGITS, lines, strict=True))


def _milestones(milestones: dict[str, Any]) -> Iterator[str]:
    yield ""
    yield f"Story       {milestones['fraction']:.0%} of the main steps"
    for step in milestones["reached"]:
        yield f"  [x] {step['title']}{'' if step['main'] else ' (extra)'}"
    if milestones["next"] is not None:
        yield f"  [ ] {milestones['next']['title']}"
        if more := len(milestones["to_come"]) - 1:
            yield f"      and {more} more"
