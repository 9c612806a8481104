"""Noisy replays of subtasks: wrong decisions are injected, and successful replays are kept.

A policy that only imitates has seen only the demonstrated states, and is lost a step beside them. A
replay that recovers from a disturbance is an example of how to return. Source: DART, Laskey et al.
2017, arXiv 1703.09327, which injects noise into the demonstrator's actions. Here the noise is an
occasional random decision, and the demonstrator repeats the recorded decisions.
"""

import numpy as np

from rlaif.game.memory.predicates import is_dying
from rlaif.trainer.curriculum.attempt import limit
from rlaif.trainer.curriculum.demonstrations import Demonstration, Segment
from rlaif.trainer.curriculum.recording import Recorder

WRONG_DECISIONS = 2.0
"""Mean number of injected decisions per subtask."""

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
    """Replay a subtask from its first state with noise; return None if it misses its goal.

    Args:
        demonstration: The demonstration of the subtask.
        segment: The subtask.
        state: Save state of its first start.
        recorder: Plays and records.
        rng: Draws the noise.
        name: Name of the result.
    """
    first = demonstration.states[segment.starts[0]].at
    count = segment.last - first
    wrong = rng.random(count) < min(0.5, WRONG_DECISIONS / max(1, count))
    if not wrong.any():
        wrong[int(rng.integers(count))] = True
    max_frames = limit(demonstration.frames_between(first, segment.last), _PATIENCE)
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
        if recorder.frames > max_frames or is_dying(recorder.ram):
            return None
        if segment.goal <= recorder.marks:
            return recorder.demonstration(name, part_of=(demonstration.name, segment.last))
    return None
