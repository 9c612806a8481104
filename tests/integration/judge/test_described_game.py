import json
from collections.abc import Iterator
from typing import Any

import pytest

from rlaif.contracts.game.segments import StateRecord
from rlaif.game.description.describe import describe
from rlaif.game.description.words import words_of
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.predicates import has_control
from rlaif.game.memory.state import decode
from rlaif.judge.evidence.described import described as as_described
from rlaif.judge.evidence.summary import summarise
from rlaif.testing.data.judging.segments import described_state

WALK = [3] * 20 + [1] * 20
DUNGEON_FACTS = ("dungeon", "keys", "boss_key")
PRESSES = 100
"""The title waits for START."""


@pytest.fixture(scope="module")
def described() -> Iterator[list[dict[str, Any]]]:
    """States of a real game, through JSON as in states.jsonl."""
    cartridge = load_cartridge()
    words = words_of(cartridge.game, cartridge.data)
    emulator = Emulator(cartridge.data)
    try:
        for _ in range(PRESSES):
            emulator.step(Action.START, 8)
            emulator.step(Action.NOP, 8)
            if has_control(read_blocks(emulator)):
                break
        states = []
        for action in WALK:
            emulator.step(action, 4)
            states.append(json.loads(json.dumps(describe(decode(read_blocks(emulator)), words))))
        yield states
    finally:
        emulator.close()


def _shape(value: Any) -> Any:
    return {name: _shape(held) for name, held in value.items()} if isinstance(value, dict) else ...


def test_states_made_for_tests_have_the_shape_of_described_ones(
    described: list[dict[str, Any]],
) -> None:
    assert _shape(described[0]) == _shape(described_state())


def test_a_real_segment_leaves_no_fact_unknown_that_applies(
    described: list[dict[str, Any]],
) -> None:
    records = [
        StateRecord(step=at, frame=at * 4 + 4, action="RIGHT", state=state)
        for at, state in enumerate(described)
    ]
    evidence = summarise(as_described(records))
    unknown = {
        f"{section}.{name}"
        for section, part in evidence.model_dump().items()
        for name, value in part.items()
        if value is None
    }
    # Outside a dungeon there is neither a dungeon nor a key of it.
    of_dungeons = {f"{when}.{name}" for when in ("start", "end") for name in DUNGEON_FACTS}
    assert unknown <= of_dungeons | {"changes.keys"}
    assert len(evidence.model_dump_json()) < 2000
