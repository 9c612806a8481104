"""The policy switch: a mode counts when some looks in a row agree, and not before."""

from collections.abc import Sequence

from hypothesis import event, example, given
from hypothesis import strategies as st

from rlaif.contracts.planning.plans import Mode
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import SAVEFILE_STRING, address
from rlaif.trainer.play.assist.takeover import PolicySwitch, mode_at, mode_of
from rlaif.trainer.play.facts import read_facts

MODES = st.sampled_from([None, "dialog", "puzzle"])
LOOKS = st.lists(MODES, max_size=60)


def after(seen: Sequence[Mode | None], looks: int) -> list[Mode | None]:
    switch = PolicySwitch(looks)
    return [switch.look(mode) for mode in seen]


BYTES = st.sampled_from([0, 0, 1, 1, 2, 3, 8, 0x81])
PLAYED = ("wGameState", "wCutsceneIndex", "wScrollMode", "w1Link.state", "wLinkHealth")
DECIDES = (
    *PLAYED, "wTextIsActive", "wTextDisplayMode", "wOpenedMenuType", "wPaletteThreadMode",
    "wDisabledObjects", "wUseSimulatedInput", "wLinkDeathTrigger", "wLinkForceState",
)  # fmt: skip


@given(
    changed=st.dictionaries(st.sampled_from(DECIDES), BYTES, max_size=3),
    loaded=st.sampled_from([True, True, True, False]),
    button=st.booleans(),
    room_flags=st.sampled_from([0, 0, 0x20, 0x80]),
)
@example(changed={}, loaded=True, button=True, room_flags=0)
@example(changed={"wScrollMode": 0}, loaded=True, button=True, room_flags=0)
@example(changed={"wOpenedMenuType": 1}, loaded=True, button=True, room_flags=0)
@example(changed={"wTextIsActive": 1}, loaded=True, button=False, room_flags=0)
def test_known_facts_give_the_mode_that_the_ram_gives(
    changed: dict[str, int], loaded: bool, button: bool, room_flags: int
):
    wram = bytearray(0x2000)
    reported = {"wActiveCollisions": 3, **dict.fromkeys(PLAYED, 1), "wGameState": 2, **changed}
    for name, value in reported.items():
        wram[address(name) - 0xC000] = value
    if loaded:
        start = address("wSavefileString") - 0xC000
        wram[start : start + len(SAVEFILE_STRING)] = SAVEFILE_STRING
    wram[address("wRoomLayout") + 5 - 0xC000] = 0x0C if button else 0
    wram[address("wGroup0RoomFlags") - 0xC000] = room_flags
    ram = RamBlocks(bytes(wram))
    event(str(mode_of(ram)))
    assert mode_at(read_facts(ram), ram) == mode_of(ram)


@given(LOOKS, st.integers(1, 5))
def test_a_mode_counts_exactly_when_the_last_looks_agree_on_it(seen: list[Mode | None], looks: int):
    """Between such moments nothing changes."""
    mode: Mode | None = None
    for reported, end in zip(after(seen, looks), range(1, len(seen) + 1), strict=True):
        last = seen[max(0, end - looks) : end]
        if len(last) == looks and len(set(last)) == 1:
            mode = last[0]
        assert reported == mode
