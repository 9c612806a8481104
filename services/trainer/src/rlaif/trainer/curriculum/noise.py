"""Parts of demonstrations with wrong decisions put in, as far as they still arrive.

A policy that only imitates sees what the demonstration saw, and is lost one step beside it. What
brings a disturbed demonstration back to its way is an example for that. Source: DART, Laskey et al.
2017, arXiv 1703.09327: noise in the demonstrator's play; ours is a decision drawn at random now and
then, and the demonstrator is what was decided before, decided once more.
"""

import numpy as np

from rlaif.game.memory.predicates import is_dying
from rlaif.trainer.curriculum.attempt import limit
from rlaif.trainer.curriculum.demonstrations import Demonstration, Segment
from rlaif.trainer.curriculum.recording import Recorder

WRONG_DECISIONS = 2.0
"""Put into a segment on average."""

_PATIENCE = 2.0


def with_noise(
    demonstration: Demonstration,
    segment: Segment,
    state: bytes,
    recorder: Recorder,
    rng: np.random.Generator,
    *,
    name: str,
) -> Demonstration | None:
    """Play a segment again from its first state, with noise; None when it does not arrive.

    Args:
        demonstration: Whose segment it is.
        segment: What is played again.
        state: The save state of its first start.
        recorder: What it is played in.
        rng: Draws where noise is put in, and what.
        name: Of the new one.
    """
    first = demonstration.states[segment.starts[0]].at
    count = segment.last - first
    wrong = rng.random(count) < min(0.5, WRONG_DECISIONS / max(1, count))
    if not wrong.any():
        wrong[int(rng.integers(count))] = True
    most = limit(demonstration.frames_between(first, segment.last), _PATIENCE)
    recorder.begin(state)
    for decision, is_disturbed in zip(
        demonstration.decisions[first : segment.last].tolist(), wrong.tolist(), strict=True
    ):
        if is_disturbed:
            recorder.wait()
            choices = recorder.allowed()
            recorder.decide(choices[int(rng.integers(len(choices)))], is_noise=True)
        recorder.wait()
        recorder.decide(decision)
        if recorder.frames > most or is_dying(recorder.ram):
            return None
        if segment.goal <= recorder.marks:
            return recorder.demonstration(name, part_of=(demonstration.name, segment.last))
    return None
