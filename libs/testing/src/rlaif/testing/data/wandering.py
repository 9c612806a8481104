"""Play that wanders about Seedling Vale, from places along its walkthrough.

The play of a policy without knowledge: random, without a button of the walkthrough.
Two players take turns, so that what is seen differs: `roam` holds a direction until something is in
the way, `sticky` holds a button, whichever, for a while.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rlaif.game.description.words import words_of
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator, new_emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.state import decode
from rlaif.testing.data.walkthrough import FRAME_SKIP, STEPS, Look, look, pressed

SEGMENTS_AN_EPISODE = 2
LOOKED_AT = frozenset(np.linspace(0, STEPS - 1, 15).round().astype(int).tolist())
"""Decision steps of a segment that are looked at: the rows that a label keeps."""

_PLACES_APART = 400
_LONGEST_PAUSE = 75
_LONGEST_HOLD = 16
_STILL_FOR = 3
"""Decision steps on one spot after which `roam` turns."""

_WAYS = (Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT)
_ALL = tuple(Action)


@dataclass(frozen=True)
class WanderedSegment:
    """One segment.

    Attributes:
        start_step: Decision step of its episode at which it starts.
        looks: Of every fifth decision step, the first and the last among them.
    """

    segment_id: str
    episode_id: str
    start_step: int
    looks: list[Look]


def wandered(
    inputs: Path, count: int, *, seed: int, until: int | None = None
) -> list[WanderedSegment]:
    """Play `count` segments, two an episode, in some hundredths of a second each.

    Equal arguments give equal play.

    Args:
        inputs: `libs/game/cartridge/walkthrough.json`, which is played once for the places where
            episodes start, every 400 frames.
        count: How many.
        seed: Of places and buttons.
        until: Frame of the walkthrough after which no episode starts; None for its whole length.
    """
    cartridge = load_cartridge()
    words = words_of(cartridge.game, cartridge.data)
    emulator = new_emulator(cartridge)
    rng = np.random.default_rng(seed)
    found = []
    try:
        places = states_along(emulator, inputs, until=until)
        for episode in range(count // SEGMENTS_AN_EPISODE):
            emulator.load_state(places[int(rng.integers(len(places)))])
            actions = _sticky(rng) if episode % 3 == 0 else _roam(emulator, rng)
            step = 0
            for number in range(SEGMENTS_AN_EPISODE):
                looks = []
                for at in range(STEPS):
                    action = next(actions)
                    emulator.step(action, FRAME_SKIP)
                    if at in LOOKED_AT:
                        looks.append(look(emulator, FRAME_SKIP * (step + at + 1), action, words))
                name = f"wandered-{seed}-{episode:04d}"
                found.append(WanderedSegment(f"{name}-{number}", name, step, looks))
                pause = int(rng.integers(_LONGEST_PAUSE))
                for _ in range(pause):
                    emulator.step(next(actions), FRAME_SKIP)
                step += STEPS + pause
    finally:
        emulator.close()
    return found


def states_along(emulator: Emulator, inputs: Path, *, until: int | None = None) -> list[bytes]:
    """Save states along the walkthrough, every 400 frames from where the game runs.

    The emulator is at power-on; it ends where the walkthrough, or `until`, does.
    """
    places = []
    for frame, action in enumerate(pressed(inputs), start=1):
        if until is not None and frame > until:
            break
        emulator.step(action, 1)
        if frame % _PLACES_APART == 0 and decode(read_blocks(emulator)).running:
            places.append(emulator.save_state())
    return places


def _sticky(rng: np.random.Generator) -> Iterator[Action]:
    while True:
        action = _ALL[int(rng.integers(len(_ALL)))]
        yield from [action] * int(rng.integers(1, _LONGEST_HOLD + 1))


def _roam(emulator: Emulator, rng: np.random.Generator) -> Iterator[Action]:
    """Holds a direction; looks where it stands before each step."""
    held, spot, still = Action.DOWN, (0, 0, 0, 0), 0
    while True:
        state = decode(read_blocks(emulator))
        if state.text or not state.has_control:
            yield Action.A if rng.random() < 0.3 else Action.NOP
            continue
        here = (state.group, state.room, state.x, state.y)
        spot, still = here, still + 1 if here == spot else 0
        action = held
        if still >= _STILL_FOR or rng.random() < 0.03:
            held, still = _WAYS[int(rng.integers(len(_WAYS)))], 0
            action = Action.A if rng.random() < 0.3 else held
        yield action
