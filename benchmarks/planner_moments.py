"""Dialogs and puzzles of the cartridge that planners resolve, 50 each, and their cost.

    python benchmarks/planner_moments.py

The mock LLM answers over HTTP, the trainer's planner calls it, and the game's executor plays the
plan: one per state, for some players up to three. The baselines do nothing, or press A for as long
as a macro may take. RAM alone decides what is resolved (`rlaif.testing.data.resolution`). Prints
one line per player, what was not resolved and why, and one line of JSON.
"""

import asyncio
import itertools
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Any

from fastapi import FastAPI
from outcome import finish
from scenes import WALKTHROUGH

from rlaif.game.description.words import words_of
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator, new_emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.state import decode
from rlaif.game.skills.script import OptionLimits
from rlaif.mock_llm.app import create_app
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.testing.data.bad_plans import MaliciousPlanner, RandomPlanner
from rlaif.testing.data.situations import SavedMoment, load_moments, states_of
from rlaif.testing.planner.taken_over import AskingPlanner, PlayedMoment, play_buttons, take_over
from rlaif.testing.servers.chat_server import ChatServer
from rlaif.testing.servers.http_server import serve
from rlaif.trainer.planning.planner import ThreadedPlanner
from rlaif.trainer.settings.planner import PlannerSettings

MOMENTS = Path(__file__).parents[1] / "tests/integration/planning/moments.json"
PLANNERS = (("guide", 1), ("guide", 3), ("random", 1), ("random", 3), ("malicious", 1))
MODES = ("dialog", "puzzle")
Z = 1.96
"""Of a two-sided interval of 95 %."""

Found = list[tuple[SavedMoment, bytes]]


@dataclass(frozen=True)
class Player:
    """Who played all moments."""

    name: str
    played: Sequence[PlayedMoment]

    def figures(self) -> dict[str, Any]:
        plans = [plan for one in self.played for plan in one.plans]
        solved = [one.item_taken for one in self.played if one.item_taken is not None]
        return {
            **{mode: self.resolved(mode) for mode in MODES},
            "items_taken": f"{sum(solved)} of {len(solved)}",
            "deaths": sum(one.died for one in self.played),
            "most_lost": max((plan.lost for plan in plans), default=None),
            "steps_median": median([plan.pressed for plan in plans]) if plans else None,
            "steps_most": max((plan.pressed for plan in plans), default=None),
            "answers": dict(Counter(plan.outcome for plan in plans)),
            "given_up": dict(Counter(plan.cause for plan in plans if plan.cause)),
        }

    def resolved(self, mode: str) -> str:
        of_mode = [one.resolved for one in self.played if one.moment.mode == mode]
        low, high = wilson(sum(of_mode), len(of_mode))
        return f"{sum(of_mode)} of {len(of_mode)} ({low:.2f} to {high:.2f})"

    def failures(self) -> list[str]:
        return [
            f"  {self.name}: {one.moment.name}, {one.moment.about[:60]}: "
            + "; ".join(f"{plan.cause or plan.outcome} after {plan.pressed}" for plan in one.plans)
            for one in self.played
            if not one.resolved
        ]


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Interval of 95 % of a share."""
    share, more = hits / of, Z * Z / of
    middle = (share + more / 2) / (1 + more)
    half = Z / (1 + more) * sqrt(share * (1 - share) / of + more / (4 * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def what_they_are(emulator: Emulator, found: Found) -> dict[str, int]:
    """How different the moments are."""
    texts, puzzles, foes = set(), set(), 0
    rooms: dict[str, set[tuple[int, int]]] = {mode: set() for mode in MODES}
    for moment, state in found:
        emulator.load_state(state)
        decoded = decode(read_blocks(emulator))
        rooms[moment.mode].add((decoded.group, decoded.room))
        if moment.mode == "dialog":
            texts.add(decoded.text_id)
        else:
            puzzles.add((decoded.group, decoded.room, decoded.puzzle))
            foes += decoded.enemies_left > 0
    return {
        "texts": len(texts),
        "rooms_with_texts": len(rooms["dialog"]),
        "sets_of_things_to_do": len(puzzles),
        "rooms_with_puzzles": len(rooms["puzzle"]),
        "puzzles_with_foes": foes,
    }


def model_of(planner: str) -> FastAPI:
    """The server that answers in place of a language model."""
    if planner == "guide":
        return create_app(MockLlmSettings(latency_seconds=0, jitter_seconds=0))
    kind = RandomPlanner if planner == "random" else MaliciousPlanner
    return ChatServer(kind(7)).app()


async def planned(
    model: FastAPI, study: Callable[[AskingPlanner], list[PlayedMoment]]
) -> list[PlayedMoment]:
    """A study with such a server."""
    cartridge = load_cartridge()
    async with serve(model) as url:
        planner = ThreadedPlanner(PlannerSettings(base_url=url, calls_per_second=1_000))
        try:
            ask = AskingPlanner(planner, words_of(cartridge.game, cartridge.data))
            return await asyncio.to_thread(study, ask)
        finally:
            planner.close()


def players(emulator: Emulator, found: Found) -> list[Player]:
    """All who play."""
    everybody = []
    for planner, most in PLANNERS:

        def study(ask: AskingPlanner, most: int = most) -> list[PlayedMoment]:
            return [take_over(emulator, *one, ask, most_plans=most) for one in found]

        name = f"{planner}, {most} plan{'s' if most > 1 else ''}"
        everybody.append(Player(name, asyncio.run(planned(model_of(planner), study))))
    for name, buttons in (("nothing", [Action.NOP]), ("A alone", [Action.A, Action.NOP])):
        played = [play_buttons(emulator, *one, itertools.cycle(buttons)) for one in found]
        everybody.append(Player(name, played))
    return everybody


def main() -> int:
    emulator = new_emulator(load_cartridge())
    found = list(states_of(emulator, WALKTHROUGH, load_moments(MOMENTS)))
    moments = what_they_are(emulator, found)
    print(f"100 moments: {moments}, limits {OptionLimits()}")
    everybody = players(emulator, found)
    emulator.close()
    for player in everybody:
        print(player.name, json.dumps(player.figures()))
    for player in everybody:
        if player.name.startswith("guide"):
            print("\n".join(player.failures()) or f"  {player.name}: none failed")
    figures = {player.name: player.figures() for player in everybody}
    return finish(
        {"benchmark": "planner_moments", "moments": moments, "players": figures}, met=True
    )


if __name__ == "__main__":
    sys.exit(main())
