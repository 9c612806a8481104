"""A generated world along its solution: where the expert has the player, and what it plans."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.game.segments import StateRecord
from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import Plan
from rlaif.game.description.briefing import brief
from rlaif.game.description.words import GameWords, words_of
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import ROOM_ITEM, address, room_flags_page
from rlaif.game.memory.predicates import has_control, is_puzzle_state
from rlaif.game.memory.state import decode
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills.macros import PlanExecutor
from rlaif.game.worlds.making import make_world
from rlaif.guides import guides
from rlaif.judge.evidence.described import described
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.panel.prompts import messages
from rlaif.judge.panel.schema import answer_schema, read_answer
from rlaif.judge.rubric.judges import JUDGES, briefed
from rlaif.mock_llm.answering import answer
from rlaif.mock_llm.chat import ChatRequest
from rlaif.mock_llm.expert.planning import plan
from rlaif.mock_llm.expert.progress import Known, position
from rlaif.mock_llm.expert.situation import situation_of
from rlaif.mock_llm.expert.world import World, world_of
from rlaif.mock_llm.settings import Behaviour

SEED, ROOMS = 4, 30
"""A world with torches, buttons, coins and a shop."""

FRAMES, PLANS, REST = 4, 3, 75
"""Of a decision step; asked for one state; steps in which a scene may end."""

SEGMENT = 75
FAR = 10_000
"""Pixels; more than any way is long."""

Steps = list[tuple[str, int]]


@pytest.fixture(scope="module")
def cartridge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cartridge]:
    folder = tmp_path_factory.mktemp("worlds")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guides, "_worlds", folder)
        yield load_cartridge(folder / f"world-{SEED}-{ROOMS}" / "world.gbc")


@pytest.fixture(scope="module")
def world(cartridge: Cartridge) -> World:
    found = world_of(cartridge.game)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def solution(cartridge: Cartridge, cartridge_folder: Path) -> Steps:
    """The buttons from power-on to the essence, and for how many frames each is held."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(cartridge_folder)
        from route import play
        from walker import Walker

        made, walker = make_world(SEED, ROOMS), Walker(cartridge)
        assert play(walker, made.tables, made.legs) == ""
        walker.emulator.close()
        return [(str(button), int(frames)) for button, frames in walker.steps]


def test_the_position_rises_along_the_solution(
    world: World, cartridge: Cartridge, solution: Steps, looks_along: Callable[..., Any]
) -> None:
    numbers, positions = [], []
    for at, look in enumerate(looks_along(cartridge, solution)):
        known = Known(lever=look.lever, boss_beaten=look.no_enemies)
        found = position(world, look.moment, known)
        assert found is not None, at
        numbers.append(found.objective)
        positions.append(found.objective - found.pixels / FAR)
    assert {*numbers} == {*range(1, world.last + 1)}
    assert np.mean(np.diff(numbers) < 0) < 0.001
    ranks = np.argsort(np.argsort(positions, kind="stable"))
    assert np.corrcoef(ranks, np.arange(len(ranks)))[0, 1] > 0.95


def test_a_prompt_has_the_next_objective_of_the_worlds_guide(
    world: World, cartridge: Cartridge, solution: Steps, looks_along: Callable[..., Any]
) -> None:
    states = [
        StateRecord(step=at, frame=FRAMES * (at + 1), action="NOP", state=look.described)
        for at, look in enumerate(islice(looks_along(cartridge, solution), SEGMENT))
    ]
    evidence = summarise(described(states))
    judge = briefed(JUDGES[0], evidence.end.game)
    chat = ChatRequest(
        model="any",
        messages=list(messages(judge, evidence, None, variant=0)),
        response_format={"type": "json_schema", "json_schema": {"schema": answer_schema(judge)}},
    )
    verdict = read_answer(judge, answer(chat, Behaviour(noise=0)))
    assert verdict.quest is not None
    assert verdict.quest.start.objective == 1
    reported = guides.guide_of(cartridge.game).objectives
    assert len(reported) == world.last


def test_its_plans_solve_the_puzzles_on_the_way(
    world: World, cartridge: Cartridge, solution: Steps
) -> None:
    """Of each state of a puzzle that the solution passes through."""
    emulator, words = Emulator(cartridge.data), words_of(cartridge.game, cartridge.data)
    seen, solved = set(), []
    for button, frames in solution:
        for _ in range(frames):
            emulator.step(Action[button], 1)
            ram = read_blocks(emulator)
            if not (has_control(ram) and is_puzzle_state(ram)):
                continue
            state = decode(ram)
            puzzle = (state.group, state.room, state.puzzle)
            if puzzle not in seen:
                seen.add(puzzle)
                here = emulator.save_state()
                solved.append(_is_solved(emulator, words))
                emulator.load_state(here)
    emulator.close()
    assert len(solved) >= 10
    assert np.mean(solved) >= 0.95


def _is_solved(emulator: Emulator, words: GameWords) -> bool:
    """Whether the room gives way by the plans for it, which RAM alone decides."""
    for _ in range(PLANS):
        ram = read_blocks(emulator)
        reported = Briefing.model_validate_json(brief(ram, words).to_json())
        made = Plan.model_validate(plan(situation_of(reported)))
        executor = PlanExecutor(made.macros, graph=RoomGraph())
        while not (choice := executor.next(ram)).over:
            emulator.step(choice.action, FRAMES)
            ram = read_blocks(emulator)
        for _ in range(REST):
            if has_control(ram):
                break
            emulator.step(Action.NOP, FRAMES)
            ram = read_blocks(emulator)
        if _gave_way(ram):
            return True
    return False


def _gave_way(ram: RamBlocks) -> bool:
    """The item of the room was taken."""
    group, room = ram.u8(address("wActiveGroup")), ram.u8(address("wActiveRoom"))
    return bool(ram.u8(room_flags_page(group) + room) & ROOM_ITEM)
