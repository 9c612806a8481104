"""Fifty texts and fifty puzzles of the built-in game: the expert resolves them, none does harm.

A state is a frame of the walkthrough and the emulator steps after it. RAM alone decides what is
resolved, independently of planner and executor.
"""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi import FastAPI

from rlaif.contracts.planning.plans import Mode
from rlaif.game.description.briefing import brief
from rlaif.game.description.words import words_of
from rlaif.game.machine.actions import Action, decode_actions
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, bcd16, read_blocks
from rlaif.game.memory.memory_map import ROOM_ITEM, TILE_STRIDE, address, room_flags_page
from rlaif.game.memory.predicates import has_control, is_dying
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills.macros import PlanExecutor
from rlaif.game.skills.script import Cause, OptionLimits
from rlaif.mock_llm.app import create_app
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.testing.data.bad_plans import MaliciousPlanner, RandomPlanner
from rlaif.testing.data.walkthrough import FRAME_SKIP, pressed
from rlaif.testing.servers.chat_server import ChatServer
from rlaif.testing.servers.http_server import serve
from rlaif.trainer.planning.planner import ThreadedPlanner
from rlaif.trainer.play.planner_counts import ModeCounts, Outcome
from rlaif.trainer.play.planner_port import PlannerQuestion, PlannerReply
from rlaif.trainer.settings.planner import PlannerSettings

MOMENTS = Path(__file__).parent / "moments.json"
WALKTHROUGH = Path(__file__).parents[3] / "libs/game/cartridge/walkthrough.json"
LIMITS = OptionLimits()
MAX_MACROS = 8
RESOLVED = 0.95
"""What the planner that read the guide must reach, of the texts and of the puzzles each."""
SCENE_STEPS = 75
"""Maximum emulator steps for the end of a scene that the last button started."""

CHEST = 0xF1
CHESTS = {(5, 0xC7): (2, 4), (4, 0x1B): (1, 4)}
"""Room → row and column of the chest that appears when its puzzle is solved."""
LEVER_ROOM, TORCH_ROOM, TORCHES = (4, 0x1D), (4, 0x13), 4
FIRST_TEXT = 0x0400
OFFERS = {34: (0x01, 20, True), 35: (0x03, 15, True), 36: (0x20, 10, False)}
"""Text → treasure, price, and whether the quest needs it (bushes drop the last one, too)."""


class Moment(NamedTuple):
    name: str
    mode: Mode
    frame: int
    presses: str
    digest: str
    about: str


@dataclass
class Played:
    """A state, and what one plan made of it."""

    moment: Moment
    outcome: Outcome
    detail: str | None
    resolved: bool = False
    died: bool = False
    pressed: int = 0
    lost: int = 0
    cause: Cause | None = None


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    machine = Emulator(load_cartridge().data)
    yield machine
    machine.close()


@pytest.fixture(scope="module")
def states(emulator: Emulator) -> list[tuple[Moment, bytes]]:
    """All moments with their save states."""
    at, found = defaultdict(list), []
    for saved in json.loads(MOMENTS.read_text()):
        at[saved["frame"]].append(Moment(**saved))
    for frame, action in enumerate(pressed(WALKTHROUGH), start=1):
        emulator.step(action, 1)
        here = emulator.save_state() if frame in at else b""
        for moment in at.get(frame, ()):
            emulator.load_state(here)
            for press in decode_actions(moment.presses):
                emulator.step(press, FRAME_SKIP)
            assert emulator.ram_digest() == moment.digest, moment.name
            found.append((moment, emulator.save_state()))
        if here:
            emulator.load_state(here)
    assert Counter(moment.mode for moment, _ in found) == {"dialog": 50, "puzzle": 50}
    return found


def solved(ram: RamBlocks, room: tuple[int, int]) -> bool:
    """Whether the room's chest or key appeared, its lever is on or its item taken."""
    if room == LEVER_ROOM:
        return ram.bit(address("wSwitchState"), 0)
    if ram.u8(room_flags_page(room[0]) + room[1]) & ROOM_ITEM:
        return True
    if (ram.u8(address("wActiveGroup")), ram.u8(address("wActiveRoom"))) != room:
        return False
    if room == TORCH_ROOM:
        return ram.u8(address("wNumTorchesLit")) >= TORCHES
    row, column = CHESTS[room]
    return ram.u8(address("wRoomLayout") + row * TILE_STRIDE + column) == CHEST


def is_read(before: RamBlocks, ram: RamBlocks) -> bool:
    """Whether the text has ended and exactly what the quest needs was bought."""
    offer = OFFERS.get(before.u16(address("wTextIndex")) - FIRST_TEXT)
    if not has_control(ram) or offer is None:
        return has_control(ram)
    (treasure, price, needed), owned = offer, address("wObtainedTreasureFlags")
    coins, left = (bcd16(each.u16(address("wNumRupees"))) for each in (before, ram))
    if needed and coins >= price and not before.bit(owned, treasure):
        return ram.bit(owned, treasure)
    return left >= coins


def play(emulator: Emulator, moment: Moment, state: bytes, reply: PlannerReply) -> Played:
    """Let the game's executor play a plan from a state, and the scene at its end."""
    played = Played(moment, reply.outcome, reply.detail)
    emulator.load_state(state)
    before = ram = read_blocks(emulator)
    room = (ram.u8(address("wActiveGroup")), ram.u8(address("wActiveRoom")))
    done = False

    def press(action: Action) -> RamBlocks:
        nonlocal done
        emulator.step(action, FRAME_SKIP)
        now = read_blocks(emulator)
        played.died = played.died or is_dying(now)
        done = done or (moment.mode == "puzzle" and solved(now, room))
        return now

    if reply.plan is not None:
        executor = PlanExecutor(reply.plan.macros, graph=RoomGraph(), limits=LIMITS)
        while not (choice := executor.next(ram)).over:
            health = ram.u8(address("wLinkHealth"))
            ram = press(choice.action)
            played.lost += max(0, health - ram.u8(address("wLinkHealth")))
            played.pressed += 1
        played.cause = choice.cause
    for _ in range(SCENE_STEPS):
        if has_control(ram):
            break
        ram = press(Action.NOP)
    played.resolved = done if moment.mode == "puzzle" else is_read(before, ram)
    return played


async def plans_of(
    app: FastAPI, emulator: Emulator, states: list[tuple[Moment, bytes]]
) -> list[Played]:
    """Each state played by one plan of an app as the language model, asked over HTTP."""
    cartridge = load_cartridge()
    words = words_of(cartridge.game, cartridge.data)
    played = []
    async with serve(app) as url:
        planner = ThreadedPlanner(PlannerSettings(base_url=url, calls_per_second=1_000))
        try:
            for moment, state in states:
                emulator.load_state(state)
                briefing = brief(read_blocks(emulator), words)
                assert planner.ask(PlannerQuestion(0, moment.mode, "plan", moment.name, briefing))
                replies: list[PlannerReply] = []
                while not replies:
                    await asyncio.sleep(0.001)
                    replies = planner.replies()
                played.append(play(emulator, moment, state, replies[0]))
            counts = sum(planner.counts().by_mode.values(), ModeCounts())
            assert counts.outcomes == Counter(each.outcome for each in played)
        finally:
            await asyncio.to_thread(planner.close)
    assert not any(each.died for each in played)
    assert all(each.lost <= LIMITS.most_quarter_hearts_lost for each in played)
    assert all(each.pressed <= MAX_MACROS * LIMITS.most_steps for each in played)
    return played


def share(played: list[Played], mode: Mode) -> float:
    of_mode = [each.resolved for each in played if each.moment.mode == mode]
    return sum(of_mode) / len(of_mode)


async def test_who_read_the_guide_resolves_nearly_all_with_one_plan(emulator: Any, states: Any):
    expert = create_app(MockLlmSettings(latency_seconds=0, jitter_seconds=0))
    played = await plans_of(expert, emulator, states)
    unresolved = [each for each in played if not each.resolved]
    assert share(played, "dialog") >= RESOLVED, unresolved
    assert share(played, "puzzle") >= RESOLVED, unresolved
    assert {each.outcome for each in played} == {"ok"}


async def test_a_random_planner_is_stopped_before_it_costs_more_than_it_may(
    emulator: Any, states: Any
):
    played = await plans_of(ChatServer(RandomPlanner(7)).app(), emulator, states)
    assert {each.outcome for each in played} == {"ok"}
    assert share(played, "puzzle") <= 0.1
    assert sum(each.cause is not None for each in played) >= 0.9 * len(played)


async def test_a_malicious_planner_does_no_harm_and_is_counted(emulator: Any, states: Any):
    """Most of its answers are rejected unread; valid ones are held to the limits of every plan."""
    played = await plans_of(ChatServer(MaliciousPlanner(7)).app(), emulator, states)
    rejected = [each for each in played if each.outcome != "ok"]
    assert 60 <= len(rejected) < len(played)
    assert all(each.outcome == "invalid" and each.pressed == 0 for each in rejected)
    assert len({each.detail for each in rejected}) >= 10
