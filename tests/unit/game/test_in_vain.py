"""A decision without effect is not offered again until something changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.game.decisions import in_vain
from rlaif.game.decisions.catalog import AIMED, COUNT, FIGHT, INTERACT, ITEM, go_to
from rlaif.game.decisions.in_vain import InVain
from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import WRAM_SIZE, WRAM_START
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.motion.grid import TilePlace
from rlaif.game.policy_input.layout import ALLOWED
from rlaif.game.policy_input.writer import policy_input

GOING = go_to(TilePlace(2, 6))


@pytest.fixture(autouse=True)
def _the_game_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_vain, "has_control", lambda ram: ram.u8(address("wTextIsActive")) == 0)


def moment(**bytes_at: int) -> RamBlocks:
    """A RAM of zeros but for these symbols; a dot in a name is written as `_`."""
    wram = bytearray(WRAM_SIZE)
    for name, value in bytes_at.items():
        wram[address(name.replace("w1Link_", "w1Link.")) - WRAM_START] = value
    return RamBlocks(bytes(wram))


def after(*played: tuple[int, RamBlocks], begun: RamBlocks | None = None) -> frozenset[int]:
    """What is not offered after these decisions, each with the moment that it led to."""
    tried = InVain()
    tried.look(begun or moment())
    for decision, ram in played:
        tried.decide(decision)
        tried.look(ram)
    return tried.decisions


def test_a_walk_after_which_all_is_as_it_was_is_not_offered_again() -> None:
    assert after((GOING, moment())) == {GOING}


def test_decisions_without_effect_are_masked_one_after_another() -> None:
    assert after((GOING, moment()), (INTERACT, moment())) == {GOING, INTERACT}


@pytest.mark.parametrize(
    "changed",
    [
        {"w1Link_xh": 1},
        {"w1Link_direction": 2},
        {"wActiveRoom": 3},
        {"wNumRupees": 5},
        {"wInventoryB": 5},
        {"wRoomLayout": 9},
    ],
)
def test_where_something_changed_everything_is_offered_again(changed: dict[str, int]) -> None:
    assert after((GOING, moment()), (INTERACT, moment(**changed))) == set()


def test_buttons_and_weapons_may_be_used_again() -> None:
    """A button waits; a sword that met nothing may meet what comes."""
    for decision in (int(Action.NOP), int(Action.A), AIMED.start, ITEM.start):
        assert after((decision, moment())) == set()


def test_a_button_in_between_makes_nothing_worth_another_try() -> None:
    assert after((GOING, moment()), (int(Action.NOP), moment())) == {GOING}


def test_in_a_text_nothing_is_without_effect() -> None:
    text = moment(wTextIsActive=1)
    assert after((INTERACT, text), begun=text) == set()


def test_a_fight_is_without_effect_only_if_the_enemies_are_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = [b"near", b"near"]
    monkeypatch.setattr(in_vain, "_foes", lambda _: seen.pop())
    assert after((FIGHT, moment())) == {FIGHT}
    seen[:] = [b"here", b"near"]
    assert after((FIGHT, moment())) == set()


def test_what_is_resumed_knows_what_was_tried() -> None:
    tried = InVain()
    tried.look(moment())
    tried.decide(GOING)
    resumed = InVain()
    resumed.load_state_dict(tried.state_dict())
    assert resumed.look(moment()) == tried.look(moment()) == {GOING}


@given(st.lists(st.tuples(st.integers(0, COUNT - 1), st.integers(0, 1))), st.integers(1, 3))
def test_only_what_was_decided_there_is_held_back_however_often_one_looks(
    played: list[tuple[int, int]], looks: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_vain, "has_control", lambda _: True)
        tried, since = InVain(), set[int]()
        tried.look(moment())
        before = 0
        for decision, x in played:
            tried.decide(decision)
            since = since | {decision} if x == before else set()
            before = x
            for _ in range(looks):
                assert tried.look(moment(w1Link_xh=x)) <= since


def test_the_policy_is_not_offered_it_while_there_is_anything_else() -> None:
    ram = moment()
    offered = np.flatnonzero(policy_input(ram)[ALLOWED])
    some, rest = offered[:1].tolist(), offered[1:].tolist()
    assert np.flatnonzero(policy_input(ram, in_vain=some)[ALLOWED]).tolist() == rest
    every = offered.tolist()
    assert np.flatnonzero(policy_input(ram, in_vain=every)[ALLOWED]).tolist() == every
