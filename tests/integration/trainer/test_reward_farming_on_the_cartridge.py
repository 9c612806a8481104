"""Loops that would farm a careless reward, played on the built-in game from its walkthrough.

Each is played several rounds. The first round may earn what is written beside the loop, once a
part; a later round earns nothing. New squares may pay whenever they come, as each pays once: the
player checks that. By design the `seed` preset pays for moving and for each rupee above the most
that was held; these are the specification's numbers, and the reason why `default` pays for neither.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.memory.predicates import is_menu, is_text
from rlaif.reward_net.pay import Potential
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions

ROUNDS = 5
SQUARES = {"square", "novelty"}
PAID_BY_DESIGN = {
    "seed": {"move", "rupee"},
    "default": set[str](),
    "judges": set[str](),
    "novelty": set[str](),
}
BOMB, SWORD, ROD, SHOVEL, FEATHER, SATCHEL = 0x03, 0x05, 0x07, 0x15, 0x17, 0x19

Loop = Callable[[Any, Any], None]
LOOPS: list[Any] = []


def loop(start: str, **first_round: int) -> Callable[[Loop], Loop]:
    """Register a loop with its start and the payments that its first round may make, by part."""

    def register(script: Loop) -> Loop:
        LOOPS.append(pytest.param(script, start, first_round, id=script.__name__))
        return script

    return register


def look_at(player: Any, row: int, column: int, direction: Action) -> None:
    """Stand beside a tile and turn to it."""
    dy, dx = {
        Action.UP: (-1, 0),
        Action.DOWN: (1, 0),
        Action.LEFT: (0, -1),
        Action.RIGHT: (0, 1),
    }[direction]
    player.stand(row - dy, column - dx)
    player.press(direction, 2)
    player.press(Action.NOP)


def read(player: Any) -> None:
    """Press A and read what it says to the end."""
    player.press(Action.A)
    player.press(Action.NOP, 3)
    assert is_text(player.ram)
    player.settle()


# --- walking ---


@loop("sword@0:76", room=1)
def over_the_edge_of_a_room_and_back(player: Any, moments: Any) -> None:
    player.leave(Action.UP)
    player.leave(Action.DOWN)


@loop("sword@0:77", room=1)
def in_and_out_of_a_house(player: Any, moments: Any) -> None:
    player.enter(3, 2)
    player.leave(Action.DOWN)


@loop("sword@0:77", room=1)
def in_and_out_of_the_shop(player: Any, moments: Any) -> None:
    player.enter(3, 7)
    player.leave(Action.DOWN)


@loop("sword@0:77", room=2)
def two_houses_in_turn(player: Any, moments: Any) -> None:
    for column in (2, 7):
        player.enter(3, column)
        player.leave(Action.DOWN)


@loop("quarry_open@5:A1", room=1)
def in_and_out_of_a_cave(player: Any, moments: Any) -> None:
    player.leave(Action.DOWN)
    player.enter(1, 4)


@loop("dungeon_entered@4:1C", room=1)
def in_and_out_of_the_dungeon(player: Any, moments: Any) -> None:
    player.leave(Action.DOWN)
    player.enter(1, 4)


@loop("second_key@4:14", room=1)
def to_and_fro_through_a_door_that_was_unlocked(player: Any, moments: Any) -> None:
    player.leave(Action.DOWN)
    player.leave(Action.UP)


@loop("sword@0:77")
def a_step_to_the_left_and_one_to_the_right(player: Any, moments: Any) -> None:
    player.press(Action.LEFT, 6)
    player.press(Action.RIGHT, 6)


@loop("sword@3:10")
def against_a_wall(player: Any, moments: Any) -> None:
    player.press(Action.UP, 40)
    player.press(Action.NOP, 40)


# --- menu and text ---


@loop("sword@0:77")
def the_menu_opened_and_closed(player: Any, moments: Any) -> None:
    player.open_menu()
    player.close_menu()


@loop("feather@0:67")
def items_swapped_in_the_menu(player: Any, moments: Any) -> None:
    held = player.byte("wInventoryB")
    player.open_menu()
    for _ in range(4):
        player.press(Action.B)
        player.press(Action.NOP)
        player.press(Action.RIGHT)
        player.press(Action.NOP)
    assert is_menu(player.ram)
    player.close_menu()
    assert player.byte("wInventoryB") != held


@loop("sword@3:10")
def the_same_person_asked_again(player: Any, moments: Any) -> None:
    look_at(player, 2, 5, Action.UP)
    read(player)


@loop("sword@0:77")
def the_same_sign_read_again(player: Any, moments: Any) -> None:
    look_at(player, 5, 6, Action.UP)
    read(player)


# --- things that come back ---


@loop("sword@0:76", room=1)
def a_bush_cut_again_after_leaving_the_room(player: Any, moments: Any) -> None:
    player.leave(Action.RIGHT)
    bush = player.byte("wRoomLayout", 4 * 16 + 1)
    player.press(Action.RIGHT)
    player.press(Action.NOP)
    player.use(SWORD)
    assert player.byte("wRoomLayout", 4 * 16 + 1) != bush, "it was there and is cut"
    player.press(Action.RIGHT, 8)
    player.leave(Action.LEFT)


@loop("shovel@0:78", room=1)
def the_same_soil_dug_again(player: Any, moments: Any) -> None:
    before = player.byte("wNumRupees")
    look_at(player, 2, 6, Action.RIGHT)
    player.use(SHOVEL)
    player.press(Action.RIGHT, 5)
    player.settle()
    assert player.byte("wNumRupees") != before, "its coin is there each time"
    player.leave(Action.LEFT)
    player.leave(Action.RIGHT)


@loop("bracelet@0:87", room=1)
def the_same_pot_thrown_again(player: Any, moments: Any) -> None:
    look_at(player, 4, 1, Action.LEFT)
    for _ in range(2):
        player.press(Action.A)
        player.press(Action.NOP, 8)
    player.leave(Action.UP)
    player.leave(Action.DOWN)


@loop("dungeon_entered@4:1B", room=1)
def the_same_block_pushed_again(player: Any, moments: Any) -> None:
    look_at(player, 3, 3, Action.RIGHT)
    tile = player.byte("wRoomLayout", 3 * 16 + 3)
    player.press(Action.RIGHT, 8)
    player.press(Action.NOP, 8)
    assert player.byte("wRoomLayout", 3 * 16 + 3) != tile
    player.leave(Action.RIGHT)
    player.leave(Action.LEFT)


@loop("flippers@5:C7", room=1)
def the_same_torch_lit_again(player: Any, moments: Any) -> None:
    player.leave(Action.DOWN)
    player.enter(1, 5)
    look_at(player, 1, 2, Action.LEFT)
    player.use(SATCHEL)
    player.press(Action.NOP, 10)


@loop("feather@5:B4")
def an_open_chest_opened_again(player: Any, moments: Any) -> None:
    look_at(player, 1, 7, Action.UP)
    player.press(Action.A)
    player.press(Action.NOP, 4)
    player.settle()


@loop("feather@5:B4")
def jumping_on_the_spot(player: Any, moments: Any) -> None:
    player.use(FEATHER)
    player.press(Action.NOP, 8)


@loop("rod_of_seasons@0:86")
def the_seasons_turned_over_and_over(player: Any, moments: Any) -> None:
    look_at(player, 5, 3, Action.LEFT)
    seen = set()
    for _ in range(4):
        player.use(ROD)
        player.settle()
        seen.add(player.byte("wRoomStateModifier"))
    assert len(seen) == 4


# --- dying, buying, loading ---


@loop("feather@5:B4")
def into_the_hole_until_death_and_on_from_the_last_door(player: Any, moments: Any) -> None:
    deaths = player.byte("wDeathCounter")
    for _ in range(60):
        player.settle()
        player.stand(3, 4)
        player.press(Action.LEFT, 8)
        player.press(Action.NOP, 8)
        if player.game.facts.health == 0 or player.game.facts.dead:
            break
    for _ in range(100):
        if player.byte("wDeathCounter") != deaths:
            break
        player.press(Action.A)
        player.press(Action.NOP, 4)
    assert player.byte("wDeathCounter") != deaths
    player.settle()


@loop("flippers@0:77", room=1)
def bombs_bought_until_the_purse_is_empty(player: Any, moments: Any) -> None:
    player.enter(3, 7)
    look_at(player, 3, 5, Action.UP)
    purse = player.byte("wNumRupees")
    player.press(Action.A)
    player.press(Action.NOP, 8)
    assert is_text(player.ram)
    player.press(Action.A)
    player.press(Action.NOP, 5)
    player.settle()
    assert player.byte("wNumRupees") < purse or purse < 0x15, "spent"
    player.leave(Action.DOWN)


def taken_again(start: str, end: str, **first_round: int) -> None:
    """A loop that loads the state at `start` after it has come to `end` as the walkthrough does."""

    def script(player: Any, moments: Any) -> None:
        names = list(moments)
        player.load(moments[start].state)
        for name in names[names.index(start) + 1 : names.index(end) + 1]:
            player.replay(moments[name].inputs)

    script.__name__ = f"from_{start}_to_{end}_after_loading_an_old_state"
    loop(start, **first_round)(script)


taken_again("start@3:10", "sword@3:10", item=1, event=1)
taken_again("sword@3:11", "shield@0:77", item=1, room=1)
taken_again("dungeon_entered@4:1B", "small_key@4:1C", key=1, event=1, room=1)
taken_again("heart_container@4:04", "essence@0:77", essence=1, event=2, room=1)


@pytest.mark.parametrize(("script", "start", "first_round"), LOOPS)
def test_a_loop_earns_once_and_never_again(
    play: Any, moments: Any, script: Loop, start: str, first_round: dict[str, int]
):
    player = play(start)
    script(player, moments)
    firsts = {name: Counter(payments) for name, payments in player.payments.items()}
    for _ in range(ROUNDS - 1):
        script(player, moments)
    for name, payments in player.payments.items():
        free = PAID_BY_DESIGN[name] | SQUARES
        first = {part: n for part, n in firsts[name].items() if part not in free}
        every = {part: n for part, n in payments.items() if part not in free}
        assert every == first, f"{name}: a later round was paid"
        assert all(n <= first_round.get(part, 0) for part, n in first.items()), (name, first)
    assert player.paid_for_old_squares == 0
    assert not player.payments["judges"]
    for seed in range(3):
        potential = some_potential(seed)
        phi = potential(np.stack(player.rows))
        assert height_paid(player, potential) <= float(phi.max() - phi[0]) + 1e-5


def some_potential(seed: int) -> Potential:
    """One that means nothing, so that a loop is as likely to be rewarded as anything."""
    weights = np.random.default_rng(seed).normal(size=128).astype(np.float32)

    def potential(observations: npt.NDArray[np.float32], /) -> npt.NDArray[np.float32]:
        return np.tanh(observations @ weights)

    return potential


def height_paid(player: Any, potential: Potential) -> float:
    """What `height` pays for all rounds, as one episode."""
    rows, died = np.stack(player.rows)[:, None], np.array(player.died[1:])[:, None]
    never = np.zeros_like(died)
    none = np.empty((0, 2), np.int64), np.empty((0, 128), np.float32)
    shaper = PotentialShaper(gamma=1.0, weight=1.0, mode="height")
    steps = Transitions(rows, never, never, *none, died=died)
    paid = shaper.shape(0, steps, potential(steps.visited())).rewards
    assert paid.min() >= 0
    return float(paid.sum(dtype=np.float64))
