"""Options as a protocol: whatever the RAM says, a legal button and an end within the limits."""

import math
import random
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from rlaif.contracts.planning.plans import (
    COLUMNS,
    KINDS,
    ROWS,
    USABLE_ITEMS,
    Answer,
    Cut,
    Macro,
    MoveTo,
    PushBlock,
    Take,
    Talk,
    UseItem,
)
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import TILE_STRIDE, address
from rlaif.game.motion.grid import FEET, WALKS
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.motion.terrain import TILE
from rlaif.game.skills.limits import Guarded, Paced, base_steps
from rlaif.game.skills.macros import PlanExecutor, option_of
from rlaif.game.skills.script import (
    Cause,
    Choice,
    GiveUp,
    Option,
    OptionLimits,
    Script,
    Scripted,
    done,
    failed,
)
from rlaif.game.skills.use import leap

read_macro = TypeAdapter[Macro](Macro).validate_python

SHORT = OptionLimits(most_steps=30, most_waiting=8, still_steps=6)
MakeRam = Callable[..., RamBlocks]

IN_PLAY = {
    "wGameState": b"\x02",
    "wCutsceneIndex": b"\x01",
    "wSavefileString": b"Z11216-0",
    "w1Link.state": b"\x01",
    "wScrollMode": b"\x01",
    "wPaletteThreadMode": b"\x00",
    "wLinkDeathTrigger": b"\x00",
    "wLinkForceState": b"\x00",
    "wDisabledObjects": b"\x00",
    "wUseSimulatedInput": b"\x00",
    "wOpenedMenuType": b"\x00",
    "wTextIsActive": b"\x00",
    "wActiveGroup": b"\x00",
    "wActiveRoom": b"\x77",
    "wLinkHealth": b"\x30",
    "w1Link.xh": b"\x48",
    "w1Link.yh": b"\x38",
    "wRoomIsLarge": b"\x00",
}
FLOORS = bytes([0x02, 0x02, 0x02, 0x02, 0x80, 0xF1, 0xC4, 0x1C, 0xF3, 0xFD, 0xE6])
COLLISIONS = bytes([0, 0, 0, 0, 0x0F, 0x0F, 0x0F, 0x0F, 0x10, 0x10, 0])


def _some_ram(rng: random.Random) -> RamBlocks:
    """Mostly a player in a room of the game, here and there anything at all."""
    wram = bytearray(rng.randbytes(0x2000) if rng.random() < 0.3 else 0x2000)
    tiles = [rng.randrange(len(FLOORS)) for _ in range(192)]
    written = {
        **IN_PLAY,
        "wRoomLayout": bytes(FLOORS[tile] for tile in tiles),
        "wRoomCollisions": bytes(COLLISIONS[tile] for tile in tiles),
        "wInventoryB": rng.choice([b"\x05\x03", b"\x17\x07", b"\x00\x00"]),
        "wObtainedTreasureFlags": rng.randbytes(16),
        "wNumBombs": rng.randbytes(16),
    }
    for name, data in written.items():
        if rng.random() < 0.9:
            at = address(name) - 0xC000
            wram[at : at + len(data)] = data if rng.random() < 0.97 else rng.randbytes(len(data))
    return RamBlocks(bytes(wram))


tile = st.fixed_dictionaries(
    {"column": st.integers(0, COLUMNS - 1), "row": st.integers(0, ROWS - 1)}
)
extra: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "MOVE_TO": st.sampled_from([{}, {"room": "0/119"}, {"room": "5/161"}]),
    "PUSH_BLOCK": st.sampled_from([{"direction": way.name} for way in WALKS]),
    "USE_ITEM": st.sampled_from(
        [{"item": item, "direction": way} for item in USABLE_ITEMS for way in (None, "UP", "LEFT")]
    ),
    "ANSWER": st.sampled_from([{"choice": choice} for choice in range(4)]),
}


@st.composite
def macros(draw: st.DrawFn) -> Macro:
    kind = draw(st.sampled_from(KINDS))
    fields: dict[str, Any] = {"kind": kind, **draw(extra.get(kind, st.just({})))}
    if kind == "USE_ITEM" and draw(st.booleans()):
        return read_macro(fields)
    return read_macro(fields if kind == "ANSWER" else {**fields, **draw(tile)})


def _rams(seed: int, different: int) -> Iterator[RamBlocks]:
    rng = random.Random(seed)
    return cycle([_some_ram(rng) for _ in range(different)])


def _check(choice: Choice) -> None:
    assert choice.status in ("running", "done", "failed")
    assert choice.action in list(Action)
    assert (choice.cause is not None) == (choice.status == "failed")
    if choice.over:
        assert choice.action == Action.NOP
    if choice.status == "failed":
        assert choice.reason


@settings(max_examples=120, deadline=None)
@given(macro=macros(), seed=st.integers(0, 2**32), different=st.integers(1, 4))
def test_any_macro_on_any_ram_presses_legal_buttons_and_ends_within_its_limits(
    macro: Macro, seed: int, different: int
) -> None:
    option = option_of(macro, graph=RoomGraph(), limits=SHORT)
    steps, rams = 0, _rams(seed, different)
    while not (choice := option.next(next(rams))).over:
        _check(choice)
        steps += 1
        assert steps <= SHORT.most_steps
    _check(choice)
    assert option.next(next(rams)) == choice


@settings(max_examples=40, deadline=None)
@given(
    plan=st.lists(macros(), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
    different=st.integers(1, 4),
)
def test_any_plan_on_any_ram_ends_and_reports_how_each_macro_did(
    plan: list[Macro], seed: int, different: int
) -> None:
    executor = PlanExecutor(plan, graph=RoomGraph(), limits=SHORT)
    steps, rams = 0, _rams(seed, different)
    while not (choice := executor.next(next(rams))).over:
        _check(choice)
        steps += 1
        assert steps <= SHORT.most_steps * len(plan)
        assert executor.current == plan[len(executor.finished)]
    outcomes = executor.finished
    assert [outcome.macro for outcome in outcomes] == plan[: len(outcomes)]
    assert sum(outcome.steps for outcome in outcomes) == steps
    assert all(outcome.status == "done" for outcome in outcomes[:-1])
    assert outcomes[-1].status == choice.status
    assert (outcomes[-1].cause, choice.cause) == (choice.cause, outcomes[-1].cause)
    if choice.status == "done":
        assert len(outcomes) == len(plan)
    assert executor.current is None
    assert executor.next(next(rams)) == choice


# --- the guards, one by one --------------------------------------------------


def _pressing(action: Action) -> Option:
    def script(ram: RamBlocks) -> Script:
        while True:
            yield action

    return Scripted(script)


def _until_over(option: Option, rams: Iterator[RamBlocks]) -> tuple[Choice, int]:
    for step in range(10_000):
        if (choice := option.next(next(rams))).over:
            return choice, step
    raise AssertionError("it never ends")


def test_a_button_that_changes_nothing_is_given_up(make_ram: MakeRam) -> None:
    option = Guarded(_pressing(Action.UP), SHORT, stays=True)
    choice, steps = _until_over(option, cycle([make_ram()]))
    assert (choice.cause, steps) == ("no_progress", SHORT.still_steps + 1)
    assert "UP" in choice.reason


def test_the_pages_of_a_text_may_look_the_same(make_ram: MakeRam) -> None:
    option = Guarded(_pressing(Action.A), SHORT, stays=True)
    assert _until_over(option, cycle([make_ram(("wTextIsActive", 1))]))[0].cause == "timeout"


def test_waiting_without_control_is_given_up(make_ram: MakeRam) -> None:
    option = Guarded(_pressing(Action.NOP), SHORT, stays=True)
    choice, steps = _until_over(option, cycle([make_ram(("wPaletteThreadMode", 1))]))
    assert (choice.cause, steps) == ("no_control", SHORT.most_waiting)


def test_an_endless_game_times_out(make_ram: MakeRam) -> None:
    option = Guarded(_pressing(Action.UP), SHORT, stays=True)
    rams = cycle([make_ram(("w1Link.yh", y)) for y in range(40, 80, 4)])
    choice, steps = _until_over(option, rams)
    assert (choice.cause, steps) == ("timeout", SHORT.most_steps)


@pytest.mark.parametrize(("stays", "cause"), [(True, "left_room"), (False, "timeout")])
def test_another_room_ends_what_should_stay(make_ram: MakeRam, stays: bool, cause: Cause) -> None:
    option = Guarded(_pressing(Action.UP), SHORT, stays=stays)
    rams = cycle([make_ram(("w1Link.yh", 40)), make_ram(("wActiveRoom", 3))])
    assert _until_over(option, rams)[0].cause == cause


@pytest.mark.parametrize(
    ("most", "healths", "hurt"),
    [
        (6, [12, 12, 10, 10, 10], False),
        (6, [12, 10, 12, 10], True),  # hearts won back do not count
        (6, [12, 9], True),  # a hit of a whole heart would now be too much
        (8, [12, 9, 8], False),
        (8, [12, 9, 7], True),
        (8, [6, 4], True),  # the next hit could kill
        (0, [12, 12], False),
        (0, [12, 11], True),
    ],
)
def test_it_is_given_up_before_a_hit_too_many(
    make_ram: MakeRam, most: int, healths: list[int], hurt: bool
) -> None:
    limits = OptionLimits(most_quarter_hearts_lost=most)
    option = Guarded(_pressing(Action.NOP), limits, stays=True)
    choices = [option.next(make_ram(("wLinkHealth", health))) for health in healths]
    assert not any(choice.over for choice in choices[:-1])
    assert (choices[-1].cause == "hurt") == hurt


def test_death_is_reported_as_death(make_ram: MakeRam) -> None:
    option = Guarded(_pressing(Action.UP), SHORT, stays=True)
    assert option.next(make_ram()).action == Action.UP
    assert option.next(make_ram(("wLinkHealth", 0))).cause == "died"


def test_without_a_game_nothing_is_pressed(make_ram: MakeRam) -> None:
    option = Guarded(_pressing(Action.UP), SHORT, stays=True)
    assert option.next(make_ram(play=False)).cause == "no_control"


def test_what_is_done_in_the_step_of_a_hit_is_done(make_ram: MakeRam) -> None:
    def script(ram: RamBlocks) -> Script:
        yield Action.A
        return done("just in time")

    option = Guarded(Scripted(script), SHORT, stays=True)
    option.next(make_ram())
    assert option.next(make_ram(("wLinkHealth", 6))).status == "done"


def test_a_script_that_gives_up_has_failed_and_stays_so(make_ram: MakeRam) -> None:
    def script(ram: RamBlocks) -> Script:
        yield Action.A
        raise GiveUp("unreachable", "a wall")

    option = Scripted(script)
    assert option.next(make_ram()).action == Action.A
    assert [option.next(make_ram()) for _ in range(2)] == [failed("unreachable", "a wall")] * 2


@pytest.mark.parametrize(
    ("direction", "at", "steps"),
    [(Action.LEFT, "w1Link.xh", -4), (Action.RIGHT, "w1Link.xh", 4), (Action.DOWN, "w1Link.yh", 4)],
)
def test_a_leap_begins_at_the_rim_of_the_tile(
    make_ram: MakeRam, direction: Action, at: str, steps: int
) -> None:
    here = {"w1Link.xh": 72, "w1Link.yh": 56}
    script = leap(make_ram(*here.items()), Action.B, direction, 4)
    pressed = [next(script)]
    while pressed[-1] != Action.B:
        here[at] += steps
        pressed.append(script.send(make_ram(*here.items())))
    assert pressed[:-1] == [direction] * (len(pressed) - 1)
    feet = here[at] + (FEET if at == "w1Link.yh" else 0)
    assert feet // TILE == (72 if at == "w1Link.xh" else 61) // TILE
    assert (feet + steps) // TILE != feet // TILE


SIGN = (address("wRoomCollisions") + 5 * TILE_STRIDE + 5, 0x0F)
STARTED: list[tuple[Macro, list[tuple[str | int, int]]]] = [
    (MoveTo(column=8, row=5), []),
    (PushBlock(column=5, row=5, direction="RIGHT"), []),
    (UseItem(item="sword", direction="UP"), []),
    (Talk(column=5, row=5), []),
    (Cut(column=5, row=5), []),
    (Take(column=5, row=5), []),
    (Answer(choice=1), [("wTextIsActive", 1), ("wTextDisplayMode", 1)]),
]


@pytest.mark.parametrize(("macro", "writes"), STARTED, ids=lambda each: repr(each)[:20])
@pytest.mark.parametrize(
    ("then", "cause"),
    [
        (("wLinkHealth", 7), "hurt"),
        (("wLinkHealth", 0), "died"),
        (("wActiveRoom", 0x12), "left_room"),
        (("wGameState", 0), "no_control"),
    ],
)
def test_every_option_aborts(
    make_ram: MakeRam,
    macro: Macro,
    writes: list[tuple[str | int, int]],
    then: tuple[str, int],
    cause: Cause,
) -> None:
    begun = [SIGN, ("w1Link.xh", 40), ("w1Link.yh", 40), ("wInventoryA", 0x05), *writes]
    option = option_of(macro, graph=RoomGraph(), limits=OptionLimits())
    assert not option.next(make_ram(*begun)).over
    ended = option.next(make_ram(*begun, then))
    assert ended.cause == cause


# --- plans -------------------------------------------------------------------


def test_the_hearts_of_a_plan_are_counted_over_its_macros(make_ram: MakeRam) -> None:
    def text(asks: int, health: int) -> RamBlocks:
        return make_ram(("wTextIsActive", 1), ("wTextDisplayMode", asks), ("wLinkHealth", health))

    limits = OptionLimits(most_quarter_hearts_lost=6)
    executor = PlanExecutor([Answer(choice=0)] * 2, graph=RoomGraph(), limits=limits)
    asked, answered = [text(1, 12), text(1, 12)], [text(0, 10), text(1, 10)]
    for ram in (*asked, *answered):
        assert not executor.next(ram).over
    assert [outcome.status for outcome in executor.finished] == ["done"]
    assert executor.next(text(1, 8)).cause == "hurt"  # two of each macro, four of the plan


def test_a_plan_ends_with_its_first_failure(make_ram: MakeRam) -> None:
    executor = PlanExecutor([Answer(choice=0), Talk(column=1, row=1)], graph=RoomGraph())
    choice = executor.next(make_ram())
    assert (choice.status, choice.cause) == ("failed", "impossible")
    (outcome,) = executor.finished
    assert (outcome.macro, outcome.status, outcome.steps) == (Answer(choice=0), "failed", 0)


@pytest.fixture
def scene(make_ram: MakeRam) -> list[RamBlocks]:
    """A text, its last press, and a scene that it starts and that ends in another room."""
    text = make_ram(("wTextIsActive", 1))
    scene = [("wPaletteThreadMode", 1)]
    return [text] * 4 + [make_ram(*scene)] * 4 + [make_ram(*scene, ("wActiveRoom", 3))]


def test_a_scene_of_the_last_press_may_lead_to_another_room(scene: list[RamBlocks]) -> None:
    executor = PlanExecutor([Answer(choice=0)], graph=RoomGraph())
    choices = [executor.next(ram) for ram in scene]
    assert [choice.over for choice in choices] == [False] * 8 + [True]
    assert choices[-1].status == "done"


def test_a_plan_ends_where_a_scene_led_away_from_the_rest_of_it(scene: list[RamBlocks]) -> None:
    executor = PlanExecutor([Answer(choice=0), Talk(column=1, row=1)], graph=RoomGraph())
    choice = [executor.next(ram) for ram in scene][-1]
    assert (choice.status, choice.cause) == ("failed", "left_room")
    assert [outcome.status for outcome in executor.finished] == ["done"]


# --- limits ------------------------------------------------------------------


@given(st.integers(1, 60))
def test_limits_scale_with_the_length_of_a_step(frame_skip: int) -> None:
    plain, scaled = OptionLimits(), OptionLimits().scaled(frame_skip)
    for name in ("most_steps", "most_waiting", "still_steps"):
        steps = getattr(scaled, name)
        assert steps == math.ceil(getattr(plain, name) * 4 / frame_skip) >= 1
    assert scaled.most_quarter_hearts_lost == plain.most_quarter_hearts_lost
    assert scaled.frames == frame_skip
    assert scaled.scaled(frame_skip) == scaled


def test_a_step_has_at_least_one_frame() -> None:
    with pytest.raises(ValueError, match="frame_skip"):
        OptionLimits().scaled(0)


@pytest.mark.parametrize(
    ("said", "pressed"),
    [(Action.UP, [Action.UP] * 4), (Action.A, [Action.A, *[Action.NOP] * 3])],
)
def test_short_steps_are_put_together(
    make_ram: MakeRam, said: Action, pressed: list[Action]
) -> None:
    option = Paced(_pressing(said), base_steps(1))
    assert [option.next(make_ram()).action for _ in range(8)] == pressed * 2
