"""Planner briefings along the walkthrough of Seedling Vale."""

from collections.abc import Iterator

import pytest

from rlaif.contracts.game.names import SEEDLING_ROOMS
from rlaif.contracts.planning.briefing import MAX_TOKENS, Briefing
from rlaif.game.description.briefing import brief
from rlaif.game.description.words import words_of
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.predicates import has_control, is_dialog_state
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.motion.room_watcher import RoomWatcher
from rlaif.testing.data.walkthrough import FRAME_SKIP, pressed

Told = list[tuple[RamBlocks, Briefing]]


@pytest.fixture(scope="module")
def reported(cartridge_folder) -> Told:
    """(RAM, briefing) at every decision step of the walkthrough, some 20 seconds."""
    cartridge = load_cartridge()
    words = words_of(cartridge.game, cartridge.data)
    graph, watcher = RoomGraph(), RoomWatcher()
    found = []
    for ram in _looks(Emulator(cartridge.data), cartridge_folder):
        crossing = watcher.see(ram)
        if crossing is not None:
            graph.add_crossing(crossing)
        found.append((ram, brief(ram, words, graph=graph)))
    return found


def _looks(emulator: Emulator, folder) -> Iterator[RamBlocks]:
    for frame, action in enumerate(pressed(folder / "walkthrough.json"), start=1):
        emulator.step(action, 1)
        if frame % FRAME_SKIP == 0:
            yield read_blocks(emulator)
    emulator.close()


def test_every_briefing_has_at_most_six_hundred_tokens(reported: Told) -> None:
    assert max(briefing.tokens for _, briefing in reported) <= MAX_TOKENS
    assert len(reported) > 5000


def test_every_room_is_briefed_by_its_name_with_the_player_on_its_map(reported: Told) -> None:
    played = [briefing for ram, briefing in reported if has_control(ram)]
    assert {briefing.place for briefing in played} == set(SEEDLING_ROOMS.values())
    for briefing in played:
        assert [len(line) for line in briefing.map] == [10] * 8
        assert sum(line.count("@") for line in briefing.map) == 1


def test_a_text_on_the_screen_is_reported_with_its_words(reported: Told) -> None:
    read = [briefing for ram, briefing in reported if is_dialog_state(ram)]
    assert read
    assert all(briefing.text and briefing.said for briefing in read)
    assert all(briefing.text is None for ram, briefing in reported if has_control(ram))


def test_a_question_is_reported_with_its_choices(reported: Told) -> None:
    asked = [briefing for _, briefing in reported if briefing.asks]
    assert asked
    assert {briefing.choices for briefing in asked} == {("Yes", "No")}
    assert all("?" in (briefing.said or "") for briefing in asked)


def test_the_next_path_was_reported_as_reachable(reported: Told) -> None:
    """Who walks into the next room leaves by an exit that a briefing a moment before had open."""
    taken = missed = 0
    last: Briefing | None = None
    for ram, briefing in reported:
        if not has_control(ram):
            continue
        if last is not None and briefing.room != last.room:
            taken += 1
            ways = [way for way in last.exits if way.reachable]
            missed += not any(way.to in (briefing.room, None) for way in ways)
        last = briefing
    assert taken > 50
    assert missed <= taken // 20  # what is warped, and who died


def test_the_goal_of_a_puzzle_is_described(reported: Told) -> None:
    kinds = {kind for _, briefing in reported for kind, *_ in briefing.to_do}
    assert kinds == {"torch", "button", "block", "switch"}


def test_doors_that_were_walked_through_lead_somewhere(reported: Told) -> None:
    village = [briefing for _, briefing in reported if briefing.place == "Seedling"]
    doors = [exit_ for exit_ in village[-1].exits if exit_.side is None]
    assert {exit_.place for exit_ in doors} == {"Fern's House", "Nut Shop"}
