"""Fifty texts and fifty puzzles of the real cartridge: who resolves them, who does harm.

The real stand-in is asked over HTTP by the trainer's planner, and the game's executor plays what
comes. RAM alone decides what is resolved.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from rlaif.game.description.words import words_of
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.predicates import is_dialog_state, is_puzzle_state
from rlaif.game.memory.state import decode
from rlaif.game.skills.script import OptionLimits
from rlaif.mock_llm.app import create_app
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.testing.data.bad_plans import MaliciousPlanner, RandomPlanner
from rlaif.testing.data.resolution import OFFERS
from rlaif.testing.data.situations import SavedMoment, load_moments, states_of
from rlaif.testing.planner.taken_over import AskingPlanner, PlayedMoment, play_buttons, take_over
from rlaif.testing.servers.chat_server import ChatServer
from rlaif.testing.servers.http_server import serve
from rlaif.trainer.planning.planner import ThreadedPlanner
from rlaif.trainer.play.planner_counts import ModeCounts
from rlaif.trainer.settings.planner import PlannerSettings

MOMENTS = Path(__file__).parent / "moments.json"
WALKTHROUGH = Path(__file__).parents[3] / "libs/game/cartridge/walkthrough.json"
LIMITS = OptionLimits()
MAX_MACROS = 8
RESOLVED = 0.95
"""What the planner that read the guide must reach, of the texts and of the puzzles each."""

Found = list[tuple[SavedMoment, bytes]]
Study = Callable[[AskingPlanner], list[PlayedMoment]]


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    machine = Emulator(load_cartridge().data)
    yield machine
    machine.close()


@pytest.fixture(scope="module")
def found(emulator: Emulator) -> Found:
    """All moments with their save states."""
    return list(states_of(emulator, WALKTHROUGH, load_moments(MOMENTS)))


def _expert() -> FastAPI:
    return create_app(MockLlmSettings(latency_seconds=0, jitter_seconds=0))


async def _asked(app: FastAPI, study: Callable[[AskingPlanner], Any]) -> Any:
    """The result of a study, and its counts, with an app as the language model."""
    cartridge = load_cartridge()
    async with serve(app) as url:
        planner = ThreadedPlanner(PlannerSettings(base_url=url, calls_per_second=1_000))
        ask = AskingPlanner(planner, words_of(cartridge.game, cartridge.data))
        try:
            return await asyncio.to_thread(study, ask), planner.counts()
        finally:
            planner.close()


def _plays(emulator: Emulator, found: Found, most_plans: int = 1) -> Study:
    return lambda ask: [
        take_over(emulator, moment, state, ask, most_plans=most_plans) for moment, state in found
    ]


def _share(played: list[PlayedMoment], mode: str) -> float:
    of_mode = [one.resolved for one in played if one.moment.mode == mode]
    return sum(of_mode) / len(of_mode)


def _unresolved(played: list[PlayedMoment]) -> str:
    return "\n".join(
        f"{one.moment.name}: {one.moment.about}: {one.plans}" for one in played if not one.resolved
    )


def test_there_are_fifty_of_each_and_they_differ(found: Found, emulator: Emulator) -> None:
    """As far as the cartridge has different ones: it has four rooms with puzzles."""
    texts, puzzles, offers = set(), set(), 0
    modes = Counter(moment.mode for moment, _ in found)
    assert modes == {"dialog": 50, "puzzle": 50}
    assert len({moment.digest for moment, _ in found}) == 100
    for moment, state in found:
        emulator.load_state(state)
        ram = read_blocks(emulator)
        reported = decode(ram)
        if moment.mode == "dialog":
            assert is_dialog_state(ram)
            texts.add(reported.text_id)
            offers += reported.text_id in OFFERS
        else:
            assert is_puzzle_state(ram)
            puzzles.add((reported.group, reported.room, reported.puzzle))
    assert len(texts) >= 40
    assert offers >= 10
    assert len({room for _, room, _ in puzzles}) == 4
    assert len(puzzles) >= 25


async def test_who_read_the_guide_resolves_nearly_all_with_one_plan(
    emulator: Emulator, found: Found
) -> None:
    played, counts = await _asked(_expert(), _plays(emulator, found))
    assert _share(played, "dialog") >= RESOLVED, _unresolved(played)
    assert _share(played, "puzzle") >= RESOLVED, _unresolved(played)
    assert not any(one.died for one in played)
    assert all(plan.lost <= LIMITS.most_quarter_hearts_lost for one in played for plan in one.plans)
    outcomes = sum(counts.by_mode.values(), ModeCounts()).outcomes
    assert outcomes == {"ok": 100}


async def test_a_random_planner_is_stopped_before_it_costs_more_than_it_may(
    emulator: Emulator, found: Found
) -> None:
    played, _ = await _asked(
        ChatServer(RandomPlanner(7)).app(), _plays(emulator, found, most_plans=3)
    )
    plans = [plan for one in played for plan in one.plans]
    assert all(plan.outcome == "ok" for plan in plans)
    assert all(plan.lost <= LIMITS.most_quarter_hearts_lost for plan in plans)
    assert all(plan.pressed <= MAX_MACROS * LIMITS.most_steps for plan in plans)
    assert not any(one.died for one in played)
    assert _share(played, "puzzle") <= 0.1
    aborted = [plan for plan in plans if plan.cause is not None]
    assert len(aborted) >= 0.9 * len(plans)


async def test_a_malicious_planner_does_no_harm_and_is_counted(
    emulator: Emulator, found: Found
) -> None:
    """Most of what it says is refused unread; what is valid is held to the limits of every plan."""
    played, counts = await _asked(ChatServer(MaliciousPlanner(7)).app(), _plays(emulator, found))
    plans = [plan for one in played for plan in one.plans]
    refused = [plan for plan in plans if plan.outcome != "ok"]
    assert all(plan.outcome == "invalid" and plan.detail for plan in refused)
    assert all(plan.pressed == 0 and not plan.done for plan in refused)
    assert len({plan.detail for plan in refused}) >= 10
    assert all(plan.lost <= LIMITS.most_quarter_hearts_lost for plan in plans)
    assert all(plan.pressed <= MAX_MACROS * LIMITS.most_steps for plan in plans)
    assert not any(one.died for one in played)
    outcomes = sum(counts.by_mode.values(), ModeCounts()).outcomes
    assert outcomes == Counter(plan.outcome for plan in plans)
    assert outcomes["invalid"] >= 60
    assert outcomes["ok"] >= 1


def test_doing_nothing_and_pressing_a_alone_solve_no_puzzle(
    emulator: Emulator, found: Found
) -> None:
    """The dullest players, beside whom the planner stands: A alone reads every text, and buys."""
    idle = [play_buttons(emulator, *one, itertools.repeat(Action.NOP)) for one in found]
    presses = [
        play_buttons(emulator, *one, itertools.cycle([Action.A, Action.NOP])) for one in found
    ]
    assert _share(idle, "puzzle") == 0
    assert _share(presses, "puzzle") == 0
    assert _share(idle, "dialog") <= 0.05
    assert 0.9 <= _share(presses, "dialog") < RESOLVED
