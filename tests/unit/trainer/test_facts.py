"""RAM in, facts out."""

from collections.abc import Callable
from typing import Any

from rlaif.game.memory.blocks import RamBlocks
from rlaif.trainer.play.facts import read_facts
from rlaif.trainer.rewards.game import facts as places


def test_progress_that_did_not_change_is_the_same_object(scripted_game: Callable[..., Any]):
    game = scripted_game()
    first = read_facts(RamBlocks(bytes(game.wram)))
    game.go(0, 0x66, 10, 20)
    second = read_facts(RamBlocks(bytes(game.wram)), first)
    assert second.progress is first.progress
    assert (second.room, second.x, second.y) == (0x66, 10, 20)
    game.rupees(123)
    third = read_facts(RamBlocks(bytes(game.wram)), second)
    assert third.progress.rupees == 123


def test_what_the_progress_is_read_from_covers_every_part(scripted_game: Callable[..., Any]):
    game = scripted_game()
    for poke in (
        lambda: game.poke("wDungeonSmallKeys", 1),
        lambda: game.poke("wDungeonMaps", 1),
        lambda: game.flag("wObtainedTreasureFlags", 0x54),
        lambda: game.flag("wObtainedSeasons", 3),
        lambda: game.flag("wEssencesObtained", 7),
        lambda: game.flag("wGlobalFlags", 127),
        lambda: game.poke("wGroup0RoomFlags", 0x20, offset=0x3FF),
        lambda: game.poke("wGroup0RoomFlags", 0x80),
    ):
        before = game.facts
        poke()
        after = game.facts
        assert after.progress[:5] != before.progress[:5]


def test_on_the_title_screen_no_timer_runs_and_no_player_dies():
    facts = read_facts(RamBlocks(bytes(0x2000)))
    assert [facts.running, facts.settled, facts.control, facts.dead] == [False] * 4


def test_a_position_belongs_to_its_room_unless_it_scrolls(
    scripted_game: Callable[..., Any],
):
    game = scripted_game()
    for mode, settled in ((1, True), (0x81, True), (8, False), (4, False), (0, False)):
        game.poke("wScrollMode", mode)
        assert game.facts.settled is settled


def test_every_square_has_a_number_of_its_own_that_says_where_it_is():
    seen = set()
    for group in places.GROUP_OF_AREA:
        for room in (0, 1, 255):
            for x in range(0, 256, 16):
                for y in range(0, 256, 16):
                    square = places.square_index(group, room, x + 15, y + 15)
                    assert places.place_of(square) == (group, room, x // 16, y // 16)
                    seen.add(square)
    assert len(seen) == 4 * 3 * 256
    assert max(seen) < places.SQUARES
