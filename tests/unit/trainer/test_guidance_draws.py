"""Who may ask after which step is drawn ahead, and is what single draws would give."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlaif.contracts.planning.plans import Mode
from rlaif.trainer.play.assist.guidance import TEXT, VISION, Draws, guidance_stream
from rlaif.trainer.settings.planner import GuidanceSettings

RULES = GuidanceSettings(text_chance=0.2, vision_chance=0.3)
COUNT = 3


def draws() -> Draws:
    return Draws(RULES, count=COUNT, rng=guidance_stream([7, 0, 0]))


def one_by_one(steps: int) -> tuple[list[dict[int, Mode]], Any]:
    """By the definition; and the stream's state after that."""
    rng = guidance_stream([7, 0, 0])
    found = []
    for _ in range(steps):
        luck = rng.random(COUNT)
        found.append(
            {n: TEXT if luck[n] < 0.2 else VISION for n in np.flatnonzero(luck < 0.5).tolist()}
        )
    return found, rng.bit_generator.state


@given(st.integers(0, 600))
def test_they_are_those_of_a_stream_drawn_step_by_step(steps: int):
    ahead = draws()
    assert ([ahead.next() for _ in range(steps)], ahead.state) == one_by_one(steps)


@given(st.integers(0, 600), st.integers(0, 300))
def test_a_resumed_stream_goes_on_alike(before: int, wasted: int):
    first, second = draws(), draws()
    for _ in range(before):
        first.next()
    for _ in range(wasted):
        second.next()
    second.resume(first.state)
    assert second.state == first.state
    assert [second.next() for _ in range(300)] == [first.next() for _ in range(300)]
