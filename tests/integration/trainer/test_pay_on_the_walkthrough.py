"""On the real cartridge: who walks to the next objective is paid more than who walks back.

What leads to an objective is what the simulated expert says, who reads the guide and the map and
knows no reward model: of the walkthrough's segments three in four. The others fetch a heart,
fight, or go round by a lever.

Two models are trained by the service's own code on play that wanders about, labelled by the expert;
no button of the walkthrough is in it. `early` is what a trainer has seen after some minutes: no one
has bought the shield. `whole` has wandered everywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch

from rlaif.contracts.game.observation import (
    LAYOUT,
    LAYOUT_VERSION,
    OBSERVATION_SIZE,
    QUEST_SLOTS,
    slot_index,
)
from rlaif.contracts.judging.quest import SAME_PLACE, QuestPosition
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.game.description.words import words_of
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator, new_emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.state import decode
from rlaif.judge.evidence.described import described
from rlaif.judge.evidence.summary import summarise
from rlaif.mock_llm.expert.progress import quest_positions
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.worth import WORTH_WEIGHTS, value_of_rise
from rlaif.reward_model.learning.fit.bradley_terry import fit_side
from rlaif.reward_model.learning.fit.sides import TRAIN_STREAM, Side
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.pay import DISCOUNT, Potential
from rlaif.reward_net.potential import PotentialFunction
from rlaif.testing.data.walkthrough import (
    FRAME_SKIP,
    STEPS,
    Look,
    look,
    pressed,
    records,
    segments,
    walkthrough,
)
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions

Float32 = npt.NDArray[np.float32]
INPUTS = Path(__file__).parents[3] / "libs/game/cartridge/walkthrough.json"


@dataclass(frozen=True)
class Way:
    """A segment that leads to the next objective.

    Attributes:
        objective: Number of the objective that is next at its start.
        rise: How far it leads, in objectives, by the expert.
        observations: `[75, 128]` float32.
    """

    objective: int
    rise: float
    observations: Float32

    @property
    def back(self) -> Float32:
        """The same observations the other way round."""
        return self.observations[::-1]


def ways() -> list[Way]:
    """All of the walkthrough, in its order; ten seconds."""
    found = []
    for looks in segments(list(walkthrough(INPUTS))):
        start, end = quest_positions(summarise(described(records(looks))))
        if start is None or end is None:
            continue
        rise = end.position - start.position
        if rise > SAME_PLACE:
            rows = np.stack([look.observation for look in looks])
            found.append(Way(start.objective, rise, rows))
    return found


def pay_of(potential: Potential, observations: Float32) -> float:
    """What the trainer's own shaper pays for `[T, D]` observations that begin an episode."""
    steps = len(observations) - 1
    never = np.zeros((steps, 1), dtype=np.bool_)
    transitions = Transitions(
        observations=np.ascontiguousarray(observations[:, None]),
        terminated=never,
        truncated=never,
        final_index=np.zeros((0, 2), dtype=np.int64),
        final_observations=np.zeros((0, observations.shape[1]), dtype=np.float32),
    )
    shaper = PotentialShaper(gamma=DISCOUNT, weight=1.0)
    shaped = shaper.shape(0, transitions, potential(transitions.visited())).rewards
    return float((DISCOUNT ** np.arange(steps) * shaped[:, 0].astype(np.float64)).sum())


def paid_right(potential: Potential, of: Sequence[Way]) -> float:
    """Share of the ways that are paid more than the same way back; an equal pay is not more."""
    more = [pay_of(potential, way.observations) > pay_of(potential, way.back) for way in of]
    return float(np.mean(more))


SEGMENTS_AN_EPISODE = 2
LOOKED_AT = frozenset(np.linspace(0, STEPS - 1, 15).round().astype(int).tolist())
"""Decision steps of a segment that are looked at: the rows that a label keeps."""

_WAYS = (Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT)
_ALL = tuple(Action)


@dataclass(frozen=True)
class WanderedSegment:
    """`looks` are those of every fifth decision step, the first and the last among them."""

    segment_id: str
    episode_id: str
    start_step: int
    looks: list[Look]


def wandered(count: int, *, until: int | None = None) -> list[WanderedSegment]:
    """Play `count` segments, two an episode; none starts after frame `until` of the walkthrough.

    Two players take turns, so that what is seen differs: `roam` holds a direction until something
    is in the way, `sticky` holds a button, whichever, for a while.
    """
    cartridge = load_cartridge()
    words = words_of(cartridge.game, cartridge.data)
    emulator = new_emulator(cartridge)
    rng = np.random.default_rng(1)
    found = []
    try:
        places = states_along(emulator, until=until)
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
                name = f"wandered-1-{episode:04d}"
                found.append(WanderedSegment(f"{name}-{number}", name, step, looks))
                pause = int(rng.integers(STEPS))
                for _ in range(pause):
                    emulator.step(next(actions), FRAME_SKIP)
                step += STEPS + pause
    finally:
        emulator.close()
    return found


def states_along(emulator: Emulator, *, until: int | None = None) -> list[bytes]:
    """Save states along the walkthrough from power-on, every 400 frames."""
    places = []
    for frame, action in enumerate(pressed(INPUTS), start=1):
        if until is not None and frame > until:
            break
        emulator.step(action, 1)
        if frame % 400 == 0 and decode(read_blocks(emulator)).running:
            places.append(emulator.save_state())
    return places


def _sticky(rng: np.random.Generator) -> Iterator[Action]:
    while True:
        action = _ALL[int(rng.integers(len(_ALL)))]
        yield from [action] * int(rng.integers(1, 17))


def _roam(emulator: Emulator, rng: np.random.Generator) -> Iterator[Action]:
    """Looks where it stands before each step; turns after three on one spot."""
    held, spot, still = Action.DOWN, (0, 0, 0, 0), 0
    while True:
        state = decode(read_blocks(emulator))
        if state.text or not state.has_control:
            yield Action.A if rng.random() < 0.3 else Action.NOP
            continue
        here = (state.group, state.room, state.x, state.y)
        spot, still = here, still + 1 if here == spot else 0
        action = held
        if still >= 3 or rng.random() < 0.03:
            held, still = _WAYS[int(rng.integers(len(_WAYS)))], 0
            action = Action.A if rng.random() < 0.3 else held
        yield action


@pytest.fixture(scope="module")
def walked() -> list[Way]:
    return ways()


class Guide:
    """The potential that knows each moment of these ways: what a model should come to."""

    def __init__(self, known: list[Way]) -> None:
        self._worth: dict[bytes, float] = {}
        behind = 0.0
        for way in known:
            for row, rise in zip(
                way.observations, np.linspace(0, way.rise, len(way.observations)), strict=True
            ):
                self._worth.setdefault(row.tobytes(), behind + rise)
            behind += way.rise

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        worth = [self._worth[row.tobytes()] for row in observations]
        return np.tanh(np.array(worth) / 18).astype(np.float32)


def test_the_walkthrough_has_ways_to_nearly_all_objectives(walked: list[Way]):
    assert len(walked) > 50
    assert len({way.objective for way in walked}) >= 16


def test_a_potential_that_knows_the_way_pays_nearly_all_of_it_the_right_way_round(
    walked: list[Way],
):
    guide = Guide(walked)
    assert paid_right(guide, walked) > 0.95
    assert paid_right(lambda rows: -guide(rows), walked) < 0.05


def test_no_single_number_of_an_observation_does(walked: list[Way]):
    """So 90 % is not had for counting rooms, hearts or steps to the right."""
    for slot in range(OBSERVATION_SIZE):
        for sign in (1, -1):
            share = paid_right(lambda rows, at=slot, by=sign: by * rows[:, at], walked)
            assert share < 0.6, LAYOUT[slot]


EARLY_FRAMES, EARLY_OBJECTIVES = 4800, 3
"""Before the shield is bought, the third objective, no episode of early play starts later."""

EARLY_SEGMENTS, WHOLE_SEGMENTS = 240, 700


def labels(played: Sequence[WanderedSegment]) -> list[LabelledSegment]:
    """What the expert says of them, in whole half screens, as its answers have it."""
    found: list[LabelledSegment] = []
    for segment in played:
        start, end = quest_positions(summarise(described(records(segment.looks))))
        if start is None or end is None:
            continue
        first, last = (
            QuestPosition(objective=at.objective, distance=round(at.distance)).position
            for at in (start, end)
        )
        found.append(
            LabelledSegment(
                segment_id=segment.segment_id,
                episode_id=segment.episode_id,
                env_step=len(found) * STEPS,
                start_step=segment.start_step,
                layout_version=LAYOUT_VERSION,
                observations=np.stack([look.observation for look in segment.looks]),
                values={"progress": value_of_rise(last - first)},
                weights=dict(WORTH_WEIGHTS),
                score_sha256=sha256(segment.segment_id.encode()).hexdigest(),
                steps=STEPS,
                positions=(first, last),
            )
        )
    return found


def fitted(segments: list[LabelledSegment]) -> RewardNet:
    """What the service fits to labels with its default settings."""
    settings = CandidateSettings()
    return fit_side(Side.make("all", segments, settings, stream=TRAIN_STREAM), settings)


@pytest.fixture(scope="module")
def early() -> RewardNet:
    return fitted(labels(wandered(EARLY_SEGMENTS, until=EARLY_FRAMES)))


@pytest.fixture(scope="module")
def wandered_everywhere() -> list[LabelledSegment]:
    return labels(wandered(WHOLE_SEGMENTS))


@pytest.fixture(scope="module")
def whole(wandered_everywhere: list[LabelledSegment]) -> RewardNet:
    return fitted(wandered_everywhere)


@pytest.fixture(params=["early", "whole"])
def trained(request: pytest.FixtureRequest) -> Potential:
    """Each of the two."""
    net: RewardNet = request.getfixturevalue(request.param)
    return PotentialFunction(net)


def untrained() -> Potential:
    return PotentialFunction(
        RewardNet(
            RewardNetSpec(layout_version=LAYOUT_VERSION, members=5),
            generator=torch.Generator().manual_seed(0),
        ).eval()
    )


def test_early_play_makes_a_model_that_pays_every_way_it_covers(
    early: RewardNet, walked: list[Way]
):
    covered = [way for way in walked if way.objective <= EARLY_OBJECTIVES]
    assert len(covered) >= 9
    assert paid_right(PotentialFunction(early), covered) >= 0.9


def test_play_of_the_whole_quest_makes_a_model_that_pays_nine_in_ten_of_all_ways(
    whole: RewardNet, walked: list[Way]
):
    """54 to 57 of 58 from 700 segments, and all from 1,400."""
    assert paid_right(PotentialFunction(whole), walked) >= 0.9


def test_a_model_that_learned_nothing_does_not(walked: list[Way]):
    assert paid_right(untrained(), walked) < 0.75


def test_owning_a_thing_of_the_quest_or_two_never_lowers_the_potential_on_average(
    trained: Potential, wandered_everywhere: list[LabelledSegment]
):
    rows = np.concatenate([item.observations[::7] for item in wandered_everywhere[::2]])
    for slots in [(slot,) for slot in QUEST_SLOTS] + list(combinations(QUEST_SLOTS, 2)):
        without, owned = rows.copy(), rows.copy()
        for slot in slots:
            without[:, slot] = 0.0
            owned[:, slot] = 1.0 / max(1.0, LAYOUT[slot].scale)
        gained = float((trained(owned) - trained(without)).mean())
        assert gained >= 0.0, [LAYOUT[slot].name for slot in slots]


def menus() -> Iterator[tuple[Float32, Float32]]:
    """Observations of the frames before and with the menu, from all over the walkthrough."""
    emulator = Emulator(load_cartridge().data)
    try:
        for state in states_along(emulator):
            emulator.load_state(state)
            before = encode(read_blocks(emulator))
            for frame in range(240):
                emulator.step(Action.START if frame % 16 < 8 else Action.NOP, 1)
                opened = encode(read_blocks(emulator))
                if opened[slot_index("menu_open")]:
                    yield before, opened
                    break
                before = opened
    finally:
        emulator.close()


@pytest.fixture(scope="module")
def before_and_in_menus() -> tuple[Float32, Float32]:
    before, opened = zip(*menus(), strict=True)
    return np.stack(before), np.stack(opened)


def test_opening_the_menu_never_raises_the_potential(
    trained: Potential, before_and_in_menus: tuple[Float32, Float32]
):
    before, opened = before_and_in_menus
    assert len(before) > 30
    toggled = before.copy()
    toggled[:, slot_index("menu_open")] = 1.0
    rounding = 5e-5  # of an objective, which is 0.1, half a thousandth
    np.testing.assert_array_less(trained(opened), trained(before) + rounding)
    np.testing.assert_array_equal(trained(toggled), trained(before))


def test_a_network_that_reads_everything_is_moved_by_menus(
    before_and_in_menus: tuple[Float32, Float32],
):
    """So the test above is not passed for nothing."""
    before, opened = before_and_in_menus
    assert np.abs(untrained()(opened) - untrained()(before)).max() > 0.01
