"""Segments of the real cartridge, played by a mixture of policies from states along its story.

The walkthrough is played once and leaves save states. From these, episodes are played by

    random    another button at every emulator step
    sticky    a random button, kept for 1 to 16 emulator steps
    walk      the walkthrough itself
    stray     the walkthrough for a while, then sticky buttons
    roam      a third of the episodes: a direction is held until something is in the way, then
              another, so that moves back are as frequent as moves ahead

and two segments of 300 frames are cut out of each, with a pause between them. A segment has what
the exporter would store: observations by the encoder and descriptions by `describe`.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scenes import walkthrough_inputs

from rlaif.game.description.describe import describe
from rlaif.game.description.words import words_of
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.state import GameState, decode
from rlaif.game.play.session import Held, PlayedEmulator

FRAME_SKIP, STEPS = 4, 75
SEGMENTS_AN_EPISODE = 2
LONGEST_PAUSE = 75
"""Maximum emulator steps between the segments of an episode."""

POLICIES = ("random", "sticky", "walk", "stray", "roam", "roam")
CHOICES: tuple[Held, ...] = (
    *map(frozenset, (["up"], ["down"], ["left"], ["right"], ["a"], ["b"], ["start"], [])),
)
DIRECTIONS: tuple[Held, ...] = CHOICES[:4]

START_EVERY = 400
"""Frames of the walkthrough between two save states."""

EARLY = 4800
"""Frames of the walkthrough before the shield is bought."""

LONGEST_HOLD = 16
STRAY_AFTER = 300
"""Maximum frames of the walkthrough after which `stray` leaves it."""

BLOCKED, TURN, PRESS_A, READ_ON = 3, 0.03, 0.3, 0.3
"""For `roam`: emulator steps in one place after which it turns, and probabilities per step."""


@dataclass(frozen=True)
class PlayedSegment:
    """One segment.

    Attributes:
        segment_id, episode_id: Ids.
        policy: Name of the policy.
        start_step: Emulator step of the episode at which it starts.
        observations: `[75, 128]` float32.
        states: Output of `describe` after each emulator step.
    """

    segment_id: str
    episode_id: str
    policy: str
    start_step: int
    observations: NDArray[np.float32]
    states: list[dict[str, Any]]


@dataclass(frozen=True)
class Place:
    """A save state of the walkthrough and the buttons that follow it, one per frame."""

    frame: int
    state: bytes
    ahead: tuple[Held, ...]


def play_segments(
    count: int,
    *,
    seed: int,
    workers: int = 1,
    until: int | None = None,
    report: Callable[[str], None] = print,
) -> list[PlayedSegment]:
    """Play about `count` segments; equal arguments give equal segments.

    Args:
        count: Number of segments; rounded up to whole episodes.
        seed: Seed of places, policies and buttons.
        workers: Number of processes.
        until: Frame of the walkthrough after which no episode starts; None for its whole length.
        report: Receives progress messages.
    """
    places = [place for place in walkthrough_places() if until is None or place.frame <= until]
    report(f"{len(places)} places along the walkthrough")
    rng = np.random.default_rng(seed)
    episodes = -(-count // SEGMENTS_AN_EPISODE)
    jobs = [
        (
            f"played-{seed}-{index:04d}",
            POLICIES[index % len(POLICIES)],
            places[int(rng.integers(len(places)))],
            int(rng.integers(2**31)),
        )
        for index in range(episodes)
    ]
    found: list[PlayedSegment] = []
    with ProcessPoolExecutor(workers) as pool:
        for number, episode in enumerate(pool.map(_play_episode, jobs, chunksize=4), 1):
            found += episode
            if number % 50 == 0:
                report(f"{len(found)} segments played")
    return found


def walkthrough_places() -> list[Place]:
    """Save states every `START_EVERY` frames, power-on first."""
    cartridge = load_cartridge(None)
    emulator = PlayedEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    inputs = list(walkthrough_inputs())
    longest = FRAME_SKIP * (STEPS * SEGMENTS_AN_EPISODE + LONGEST_PAUSE)
    places = []
    for frame, held in enumerate(inputs):
        if frame % START_EVERY == 0:
            places.append(Place(frame, emulator.save_state(), tuple(inputs[frame:][:longest])))
        emulator.frame(held)
    emulator.close()
    return places


def _play_episode(job: tuple[str, str, Place, int]) -> list[PlayedSegment]:
    episode_id, policy, place, seed = job
    cartridge = load_cartridge(None)
    emulator = PlayedEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    emulator.load_state(place.state)
    rng = np.random.default_rng(seed)
    pressed = roam(emulator, rng) if policy == "roam" else buttons(policy, place, rng)
    words = words_of(cartridge.game, cartridge.data)
    found, step = [], 0
    for index in range(SEGMENTS_AN_EPISODE):
        start, rows, states = step, [], []
        for _ in range(STEPS):
            _step(emulator, pressed)
            ram = read_blocks(emulator)
            rows.append(encode(ram))
            states.append(describe(decode(ram), words))
        pause = int(rng.integers(LONGEST_PAUSE + 1)) if index + 1 < SEGMENTS_AN_EPISODE else 0
        for _ in range(pause):
            _step(emulator, pressed)
        step += STEPS + pause
        found.append(
            PlayedSegment(
                segment_id=f"{episode_id}-{index}",
                episode_id=episode_id,
                policy=policy,
                start_step=start,
                observations=np.stack(rows),
                states=states,
            )
        )
    emulator.close()
    return found


def _step(emulator: PlayedEmulator, pressed: Iterator[Held]) -> None:
    for _ in range(FRAME_SKIP):
        emulator.frame(next(pressed))


def buttons(policy: str, place: Place, rng: np.random.Generator) -> Iterator[Held]:
    """Buttons held in each frame, endlessly."""
    if policy == "walk":
        yield from place.ahead
    if policy == "stray":
        yield from place.ahead[: int(rng.integers(STRAY_AFTER))]
    longest = 1 if policy == "random" else LONGEST_HOLD
    while True:
        held = CHOICES[int(rng.integers(len(CHOICES)))]
        yield from [held] * (FRAME_SKIP * int(rng.integers(1, longest + 1)))


def roam(emulator: PlayedEmulator, rng: np.random.Generator) -> Iterator[Held]:
    """Buttons held in each frame by a player that wanders around obstacles."""
    held, at, still = DIRECTIONS[int(rng.integers(4))], None, 0
    while True:
        state = decode(read_blocks(emulator))
        if state.text or not state.has_control:
            yield from [frozenset(["a"]) if rng.random() < READ_ON else frozenset()] * FRAME_SKIP
            continue
        still = still + 1 if _spot(state) == at else 0
        at = _spot(state)
        pressed = held
        if still >= BLOCKED or rng.random() < TURN:
            held, still = DIRECTIONS[int(rng.integers(4))], 0
            pressed = frozenset(["a"]) if rng.random() < PRESS_A else held
        yield from [pressed] * FRAME_SKIP


def _spot(state: GameState) -> tuple[int, ...]:
    return (state.group, state.room, state.x, state.y)
