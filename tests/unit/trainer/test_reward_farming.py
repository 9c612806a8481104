"""Loops that would farm a careless reward: each earns its bonus in the first round, none later.

A loop is played fifty rounds on RAM that the script writes, through the same code as in training.
What the first round may earn is written beside it, in payments a part. One exception, in the `seed`
preset alone: its `move` part pays 0.1 for each step that changes the position, whatever for. These
are the specification's numbers, which the preset reproduces; `default` pays 0 for moving.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from rlaif.game.machine.actions import Action

ROUNDS = 50
PAID_BY_DESIGN = {"seed": {"move"}, "default": set[str]()}

Loop = Callable[[Any], None]
LOOPS: list[Any] = []


def loop(**first_round: int) -> Callable[[Loop], Loop]:
    """Register a loop with the payments that its first round may make, by part."""

    def register(script: Loop) -> Loop:
        LOOPS.append(pytest.param(script, first_round, id=script.__name__))
        return script

    return register


PLACE = {"square": 1, "novelty": 1}


def scroll_to(game: Any, group: int, room: int, x: int, y: int) -> None:
    """Enter a room as the game does: room first, then the position, then at rest."""
    game.poke("wScrollMode", 8)
    game.poke("wActiveRoom", room)
    game.poke("wActiveGroup", group)
    game.step(Action.RIGHT)
    game.go(group, room, x, y)
    game.step(Action.RIGHT)
    game.poke("wScrollMode", 1)
    game.step(Action.RIGHT)


@loop(room=2, square=2, novelty=2)
def a_circle_of_warps(game: Any) -> None:
    for group, room in ((4, 0x1C), (5, 0x5B), (0, 0x65)):
        game.poke("wScrollMode", 0)
        game.poke("wCutsceneIndex", 0)
        game.step()
        game.poke("wCutsceneIndex", 1)
        game.go(group, room, 80, 64)
        game.poke("wScrollMode", 1)
        game.step()


@loop(rupee=1)
def rupees_dropped_and_picked_up(game: Any) -> None:
    for amount in (5, 0, 5):
        game.rupees(amount)
        game.step(Action.A)


@loop(rupee=3)
def rupees_spent_and_earned_back(game: Any) -> None:
    for amount in (10, 20, 30, 25, 0, 10, 30):
        game.rupees(amount)
        game.step(Action.A)


@loop(rupee=1)
def a_purse_that_shows_garbage(game: Any) -> None:
    for raw in (b"\xff\xff", b"\x00\x00"):
        game.poke("wNumRupees", raw)
        game.step()


@loop()
def hurt_and_healed(game: Any) -> None:
    for health in (4, 12):
        game.poke("wLinkHealth", health)
        game.step()


@loop(key=1)
def key_used_and_collected_again(game: Any) -> None:
    for keys in (1, 0, 1):
        game.poke("wDungeonSmallKeys", keys, offset=1)
        game.step(Action.UP)


@loop(item=1)
def item_lost_and_found(game: Any) -> None:
    for owned in (True, False):
        game.flag("wObtainedTreasureFlags", 0x17, owned)
        game.step()


@loop(item=1)
def dungeon_map_taken_again(game: Any) -> None:
    for owned in (True, False):
        game.flag("wObtainedTreasureFlags", 0x33, owned)
        game.flag("wDungeonMaps", 1, owned)
        game.step()


@loop(event=1)
def story_flag_toggled(game: Any) -> None:
    for on in (True, False):
        game.flag("wGlobalFlags", 0x18, on)
        game.step()


@loop(essence=1)
def essence_toggled(game: Any) -> None:
    for on in (True, False):
        game.flag("wObtainedTreasureFlags", 0x40, on)
        game.flag("wEssencesObtained", 0, on)
        game.step()


@loop(**PLACE)
def to_and_fro_over_the_edge_of_a_square(game: Any) -> None:
    for x in (95, 96, 95, 80):
        game.go(0, 0x65, x, 64)
        game.step(Action.RIGHT)


@loop(item=1, event=1, key=1, rupee=1)
def progress_made_again_after_loading_an_old_file(game: Any) -> None:
    old = bytes(game.wram)
    game.flag("wObtainedTreasureFlags", 0x05)
    game.poke("wGroup0RoomFlags", 0x80, offset=0xD9)
    game.poke("wDungeonSmallKeys", 2, offset=3)
    game.rupees(50)
    game.step()
    game.wram[:] = bytes(len(old))  # the title screen
    game.step(Action.START)
    game.wram[:] = old
    game.step()


@loop()
def the_title_screen_shows_garbage(game: Any) -> None:
    played = bytes(game.wram)
    for byte in (0xFF, 0x55):
        game.wram[:] = bytes([byte] * len(played))
        game.poke("wLinkHealth", 1)
        assert game.step() == {}
    game.wram[:] = played
    game.step()


@loop(item=1)
def a_new_file_begun(game: Any) -> None:
    game.flag("wObtainedTreasureFlags", 0x05)
    game.step()
    game.wram[:] = bytes(len(game.wram))
    game.step(Action.START)
    game.load_file()
    game.go(0, 0x65, 80, 64)
    game.step()


@loop(room=1, **PLACE)
def groups_that_share_rooms_in_turn(game: Any) -> None:
    for group in (1, 2, 3):
        game.go(group, 0x40, 80, 64)
        game.step()
    game.go(0, 0x65, 80, 64)
    game.step()


@loop(room=2, square=2, novelty=2)
def dungeon_rooms_seen_from_the_side(game: Any) -> None:
    for group in (4, 6, 5, 7):
        game.go(group, 0x09, 80, 64)
        game.step()
    game.go(0, 0x65, 80, 64)
    game.step()


@loop()
def positions_that_jump_while_scrolling(game: Any) -> None:
    game.poke("wScrollMode", 8)
    for x in range(0, 160, 8):
        game.go(0, 0x65, x, x // 2)
        game.step()
    game.go(0, 0x65, 80, 64)
    game.poke("wScrollMode", 1)
    game.step()


@loop()
def room_0_for_a_moment_while_loading(game: Any) -> None:
    game.poke("wCutsceneIndex", 0)
    game.go(0, 0, 0, 0)
    game.step()
    game.poke("wCutsceneIndex", 1)
    game.go(0, 0x65, 80, 64)
    game.step()


@loop(room=1, **PLACE)
def room_0_itself_entered_and_left(game: Any) -> None:
    scroll_to(game, 0, 0, 80, 64)
    scroll_to(game, 0, 0x65, 80, 64)


@loop()
def rupee_room_flags_rewritten(game: Any) -> None:
    for byte in (0xFF, 0x00):
        game.poke("wGroup1RoomFlags", bytes([byte] * 16), offset=0xF0)
        game.step()


@loop()
def standing_still_and_then_moving(game: Any) -> None:
    for _ in range(40):
        game.step()
    for x in (81, 80):
        game.go(0, 0x65, x, 64)
        game.step(Action.LEFT)


@pytest.mark.parametrize("weights", ["seed", "default"])
@pytest.mark.parametrize(("script", "first_round"), LOOPS)
def test_a_loop_earns_once_and_never_again(
    scripted_game: Callable[..., Any], script: Loop, first_round: dict[str, int], weights: Any
):
    game = scripted_game(weights)
    game.begin()
    script(game)
    by_design = PAID_BY_DESIGN[weights]
    first = Counter(game.payments)
    for part in by_design:
        del first[part]
    allowed = {part: n for part, n in first_round.items() if getattr(game.weights, part) > 0}
    assert dict(first) == allowed
    earned = Counter(game.earned)
    for _ in range(ROUNDS - 1):
        script(game)
    for part, amount in game.earned.items():
        assert part in by_design or amount == earned[part], f"{part} pays for the loop"


def test_moving_is_what_the_seed_preset_pays_for_and_the_default_does_not(
    scripted_game: Callable[..., Any],
):
    paid = {}
    for weights in ("seed", "default"):
        game = scripted_game(weights)
        game.begin()
        for _ in range(ROUNDS):
            to_and_fro_over_the_edge_of_a_square(game)
        paid[weights] = game.earned["move"]
    assert paid == {"seed": pytest.approx(0.1 * 4 * ROUNDS, rel=0.01), "default": 0}
