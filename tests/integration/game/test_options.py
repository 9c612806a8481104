"""Every option on the embedded game: one that succeeds, one that gives up and says why."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from rlaif.contracts.planning.plans import Macro
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import (
    has_control,
    is_menu,
    is_text,
    is_text_choice,
)
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills.macros import option_of
from rlaif.game.skills.script import OptionLimits
from rlaif.testing.data.read_ram import SHIELD, in_room, index, keys, owns, season

read_macro = TypeAdapter[Macro](Macro).validate_python

FRAME_SKIP = 4


def macro(kind: str, column: int | None = None, row: int | None = None, **more: Any) -> Any:
    return {"kind": kind, "column": column, "row": row, **more}


def use(item: str, column: int | None = None, row: int | None = None, **more: Any) -> Any:
    return macro("USE_ITEM", column, row, item=item, **more)


def answer(choice: int) -> Any:
    return {"kind": "ANSWER", "choice": choice}


DEEDS: list[tuple[str, list[Any], Callable[[RamBlocks], bool]]] = [
    (
        "button room",
        [macro("PUSH_BLOCK", 3, 3, direction="RIGHT")],
        lambda ram: ram.u8(address("wActiveTriggers")) == 1,
    ),
    (
        "button room",
        [
            macro("PUSH_BLOCK", 3, 3, direction="RIGHT"),
            macro("MOVE_TO", 4, 5),
            macro("TAKE", 4, 1),
        ],
        lambda ram: keys(ram) == 1,
    ),
    ("shrine", [use("rod_of_seasons", 3, 5)], lambda ram: season(ram) == 1),
    ("shrine", [use("rod_of_seasons", 3, 5, direction="LEFT")] * 3, lambda ram: season(ram) == 3),
    ("field", [use("shovel", 6, 2)], lambda ram: index(ram, 6, 2) == 0xE1),
    ("orchard in winter", [use("shovel", 6, 1)], lambda ram: index(ram, 6, 1) != 0xD7),
    ("stair", [use("bombs", 4, 1, direction="UP")], lambda ram: index(ram, 4, 1) == 0xE8),
    (
        "vault",
        [use("bombs", 4, 3), macro("TAKE", 3, 1)],
        lambda ram: ram.u8(address("wDungeonBossKeys")) == 2,
    ),
    (
        "ember cave",
        [use("ember_seeds", c, r) for c, r in ((1, 1), (8, 1), (8, 5), (1, 5))],
        lambda ram: index(ram, 4, 2) == 0xF1,
    ),
    (
        "torch hall",
        [
            *(use("seed_satchel", c, r) for c, r in ((1, 1), (8, 1), (8, 6), (1, 6))),
            macro("TAKE", 4, 3),
        ],
        lambda ram: keys(ram) == 1,
    ),
    (
        "windy cave",
        [use("feather", 3, 3, direction="LEFT"), macro("TAKE", 1, 3), use("feather", 3, 3)],
        lambda ram: ram.u8(address("wNumHeartPieces")) == 1 and ram.u8(address("w1Link.xh")) > 64,
    ),
    (
        "hop hall",
        [use("feather", 4, 2), macro("CUT", 6, 1), use("feather", 7, 3), macro("TAKE", 8, 1)],
        lambda ram: index(ram, 6, 1) == 0x0B and ram.u8(address("wDungeonMaps")) == 2,
    ),
    (
        "torch hall",  # the player is in the doorway and turns without leaving through it
        [use("rod_of_seasons", direction="RIGHT")],
        lambda ram: (
            in_room(ram, 4, 0x13)
            and ram.u8(address("w1Link.direction")) == 1
            and ram.u8(address("wLinkUsingItem1")) == 0
        ),
    ),
    ("windy cave", [use("feather")], lambda ram: ram.u8(address("wLinkInAir")) == 0),
    ("orchard", [macro("CUT", 4, 3), macro("TAKE", 4, 1)], lambda ram: index(ram, 4, 1) == 0xF0),
    ("lane", [macro("TAKE", 1, 4)], lambda ram: ram.u8(address("wLinkGrabState")) == 0x83),
    ("lane", [use("bracelet", 1, 4)], lambda ram: ram.u8(address("wLinkGrabState")) == 0x83),
    ("village", [macro("TALK", 2, 6)], has_control),
    ("village", [macro("TALK", 6, 5)], has_control),
    ("hut", [macro("TALK", 4, 2)], has_control),
    ("shop", [macro("TALK", 3, 3)], is_text_choice),
    (
        "shop",
        [macro("TALK", 3, 3), answer(1)],
        lambda ram: has_control(ram) and not owns(ram, SHIELD),
    ),
    (
        "shop",
        [macro("TALK", 3, 3), answer(0)],
        lambda ram: has_control(ram) and owns(ram, SHIELD),
    ),
]


@pytest.mark.parametrize(("moment", "macros", "is_so"), DEEDS)
def test_a_plan_does_what_it_says(
    play: Any, moment: str, macros: list[Any], is_so: Callable[[RamBlocks], bool]
) -> None:
    outcomes = play.at(moment).plan(*macros)
    assert [outcome.status for outcome in outcomes] == ["done"] * len(macros), outcomes
    assert is_so(play.ram)
    assert not is_menu(play.ram)


@pytest.mark.parametrize("frame_skip", [1, 2, 3])
@pytest.mark.parametrize(
    ("moment", "asked"),
    [
        ("button room", macro("PUSH_BLOCK", 3, 3, direction="RIGHT")),
        ("shrine", use("rod_of_seasons", 3, 5)),
        ("stair", use("bombs", 4, 1, direction="UP")),
        ("windy cave", use("feather", 3, 3)),
        ("hut", macro("TALK", 4, 2)),
        ("orchard", macro("CUT", 4, 3)),
        ("torch hall", macro("TAKE", 3, 1)),
    ],
)
def test_deeds_are_done_in_shorter_steps_too(
    play: Any, moment: str, asked: Any, frame_skip: int
) -> None:
    play.frame_skip = frame_skip
    (outcome,) = play.at(moment).plan(asked, limits=OptionLimits().scaled(frame_skip))
    assert outcome.status == "done", outcome


@pytest.mark.parametrize(
    ("moment", "macros", "cause", "reason"),
    [
        ("button room", [macro("PUSH_BLOCK", 2, 5, direction="LEFT")], "no_progress", "not move"),
        ("button room", [macro("PUSH_BLOCK", 5, 4, direction="LEFT")], "impossible", "nothing to"),
        ("button room", [macro("PUSH_BLOCK", 12, 4, direction="UP")], "impossible", "not in this"),
        ("button room", [macro("PUSH_BLOCK", 1, 0, direction="UP")], "impossible", "not in this"),
        (
            "button room",
            [
                macro("PUSH_BLOCK", 3, 3, direction="LEFT"),
                macro("PUSH_BLOCK", 2, 3, direction="LEFT"),
            ],
            "no_progress",
            "does not move",
        ),
        ("button room", [macro("PUSH_BLOCK", 1, 1, direction="RIGHT")], "unreachable", "1,1"),
        ("button room", [macro("PUSH_BLOCK", 1, 1, direction="LEFT")], "impossible", "no room"),
        ("village", [use("sword", direction="UP")], "impossible", "not owned"),
        ("shrine", [use("shield")], "impossible", "cannot be put on"),
        ("village, with the blade", [use("bombs")], "impossible", "no bombs"),
        ("windy cave", [use("feather", direction="UP")], "no_progress", "next tile"),
        ("torch hall", [use("feather", direction="RIGHT")], "impossible", "no place to land"),
        ("shrine", [use("shovel", 0, 0)], "unreachable", "0,0"),
        ("shrine", [use("shovel", 12, 9)], "impossible", "not in this room"),
        ("village", [macro("TALK", 5, 5)], "impossible", "no person and no sign"),
        ("village", [macro("TALK", 3, 5)], "no_progress", "no one answers"),
        ("village", [macro("TALK", 0, 0)], "unreachable", "0,0"),
        ("shop", [macro("TALK", 3, 3), macro("TALK", 4, 2)], "no_control", "question is open"),
        ("village", [macro("CUT", 1, 4)], "impossible", "not owned"),
        ("village, with the blade", [macro("CUT", 3, 5)], "no_progress", "does not change"),
        ("village, with the blade", [macro("CUT", 0, 0)], "unreachable", "0,0"),
        ("house, with the blade", [macro("TAKE", 1, 6)], "no_progress", "nothing to lift"),
        ("village", [macro("TAKE", 4, 5)], "impossible", "no item"),
        ("windy cave", [macro("TAKE", 1, 3)], "unreachable", "1,3"),
        ("village", [answer(0)], "impossible", "no text"),
        ("shop", [macro("TALK", 3, 3), answer(2)], "impossible", "no choice 2"),
        ("death", [macro("TALK", 4, 4)], "died", "health"),
    ],
)
def test_what_cannot_be_done_is_given_up_with_a_cause(
    play: Any, moment: str, macros: list[Any], cause: str, reason: str
) -> None:
    outcomes = play.at(moment).plan(*macros)
    assert [outcome.status for outcome in outcomes[:-1]] == ["done"] * (len(macros) - 1)
    assert (outcomes[-1].status, outcomes[-1].cause) == ("failed", cause)
    assert reason in outcomes[-1].reason
    assert not is_menu(play.ram)


def test_an_answer_to_a_text_that_asks_nothing_reads_it_to_its_end(play: Any) -> None:
    play.at("hut")
    talk = option_of(read_macro(macro("TALK", 4, 2)), graph=RoomGraph(), limits=OptionLimits())
    while not is_text(ram := play.ram):
        play.emulator.step(talk.next(ram).action, FRAME_SKIP)
    (outcome,) = play.plan(answer(0))
    assert (outcome.status, outcome.reason) == (
        "done",
        "the text was read to its end without a question",
    )
    assert has_control(play.ram)


def test_an_answer_brings_the_cursor_back(play: Any) -> None:
    play.at("shop").plan(macro("TALK", 3, 3))
    for action in (Action.RIGHT, Action.NOP):
        play.emulator.step(action, FRAME_SKIP)
    assert play.ram.u8(address("wSelectedTextOption")) == 1
    (outcome,) = play.plan(answer(0))
    assert outcome.status == "done"
    assert owns(play.ram, SHIELD)


def test_an_open_menu_is_closed_first(play: Any) -> None:
    play.at("hut")
    for action in (Action.START, *[Action.NOP] * 6):
        play.emulator.step(action, FRAME_SKIP)
    assert is_menu(play.ram)
    (outcome,) = play.plan(macro("TALK", 4, 2))
    assert outcome.status == "done"
