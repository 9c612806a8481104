"""Segments of the real cartridge, played by a mixture of policies from many places of its story.

Nothing here is made by hand: the walkthrough is played once and leaves save states along the way;
from these, episodes are played by

    random    another button at every decision step
    sticky    a random button, kept for 1 to 16 decision steps
    walk      the walkthrough itself
    stray     the walkthrough for a while, then sticky buttons take over

and cut into segments of 300 frames. What a segment shows is what the exporter would store:
observations by the encoder, descriptions by `describe`, both read from RAM.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scenes import walkthrough_inputs

from rlaif.contracts.scores import CRITERIA
from rlaif.game.description.describe import describe
from rlaif.game.description.words import words_of
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.state import GameState, decode
from rlaif.game.play.session import Held, PlayedEmulator
from rlaif.game.stories.milestones import Story, fraction, milestones_reached
from rlaif.game.stories.story_lookup import story_of

FRAME_SKIP, STEPS = 4, 75
SEGMENTS_AN_EPISODE = 4
POLICIES = ("random", "sticky", "walk", "stray")
CHOICES: tuple[Held, ...] = (
    *map(frozenset, (["up"], ["down"], ["left"], ["right"], ["a"], ["b"], ["start"], [])),
)
ROOMS = 48
"""Rooms that the walkthrough sees, about."""

START_EVERY = 400
"""Frames of the walkthrough between two save states."""

LONGEST_HOLD = 16
STRAY_AFTER = 300
"""Frames of the walkthrough after which `stray` leaves it, at most."""


@dataclass(frozen=True)
class PlayedSegment:
    """One segment.

    Attributes:
        segment_id, episode_id: Ids.
        policy: Who played.
        start_step: Decision step of the episode at which it starts.
        observations: `[75, 128]` float32.
        states: What `describe` says after each decision step.
        truth: `[75, 5]` float64 in [0, 1], what the RAM says of each criterion of the rubric after
            each decision step, in the order of `CRITERIA`.
    """

    segment_id: str
    episode_id: str
    policy: str
    start_step: int
    observations: NDArray[np.float32]
    states: list[dict[str, Any]]
    truth: NDArray[np.float64]


@dataclass(frozen=True)
class Place:
    """A save state of the walkthrough and the buttons that follow it, one a frame."""

    frame: int
    state: bytes
    ahead: tuple[Held, ...]


def play_segments(
    count: int, *, seed: int, workers: int = 1, told: Callable[[str], None] = print
) -> list[PlayedSegment]:
    """Play about `count` segments; equal arguments give equal ones.

    Args:
        count: How many; rounded up to whole episodes.
        seed: Of the choice of places, policies and buttons.
        workers: Processes.
        told: Is told of the progress.
    """
    places = walkthrough_places()
    told(f"{len(places)} places along the walkthrough")
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
                told(f"{len(found)} segments played")
    return found


def walkthrough_places() -> list[Place]:
    """Save states every `START_EVERY` frames, power-on first."""
    cartridge = load_cartridge(None)
    emulator = PlayedEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    inputs = list(walkthrough_inputs())
    longest = STEPS * FRAME_SKIP * SEGMENTS_AN_EPISODE
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
    pressed = buttons(policy, place, np.random.default_rng(seed))
    story, words = story_of(cartridge.game), words_of(cartridge.game, cartridge.data)
    found = []
    for index in range(SEGMENTS_AN_EPISODE):
        rows, states, truth = [], [], []
        for _ in range(STEPS):
            for _ in range(FRAME_SKIP):
                emulator.frame(next(pressed))
            ram = read_blocks(emulator)
            rows.append(encode(ram))
            state = decode(ram)
            states.append(describe(state, words))
            truth.append(true_values(ram, state, story))
        found.append(
            PlayedSegment(
                segment_id=f"{episode_id}-{index}",
                episode_id=episode_id,
                policy=policy,
                start_step=index * STEPS,
                observations=np.stack(rows),
                states=states,
                truth=np.array(truth),
            )
        )
    emulator.close()
    return found


def true_values(ram: RamBlocks, state: GameState, story: Story) -> list[float]:
    """What is true of one moment, by the rubric's criteria, each in [0, 1].

    progress    share of the main story steps that the save file shows
    dialog      1, or 0 while a text box stays open
    puzzle      share of the steps inside the dungeon: its keys, doors, boss, essence
    novelty     rooms visited, of `ROOMS`
    efficiency  1 while the player plays with all his hearts, 0.5 with none; 0 in menus and dead
    """
    if not state.running:
        return [0.0] * len(CRITERIA)
    reached = milestones_reached(ram, story)
    names = {milestone.name for milestone in reached}
    inside = dungeon_steps(story)
    wasted = state.menu != 0 or state.dying
    return [
        fraction(reached, story),
        0.0 if state.text else 1.0,
        len(names & inside) / len(inside),
        min(1.0, (state.rooms_visited or 0) / ROOMS),
        0.0 if wasted else 0.5 + 0.5 * state.health / max(1, state.max_health),
    ]


def dungeon_steps(story: Story) -> set[str]:
    """Names of the main steps after the dungeon was entered."""
    main = [milestone.name for milestone in story.milestones if milestone.is_main]
    return set(main[main.index("dungeon_entered") + 1 :])


def buttons(policy: str, place: Place, rng: np.random.Generator) -> Iterator[Held]:
    """What is held in each frame, without end."""
    if policy == "walk":
        yield from place.ahead
    if policy == "stray":
        yield from place.ahead[: int(rng.integers(STRAY_AFTER))]
    longest = 1 if policy == "random" else LONGEST_HOLD
    while True:
        held = CHOICES[int(rng.integers(len(CHOICES)))]
        yield from [held] * (FRAME_SKIP * int(rng.integers(1, longest + 1)))
