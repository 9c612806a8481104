"""The additive mode pays for places that the judges like, once: nothing can be farmed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.contracts.observation import OBSERVATION_SIZE, slot_index
from rlaif.trainer.rewards.learned.additive import AdditiveRewards, lower_bound
from rlaif.trainer.rewards.learned.observed_places import places_of
from rlaif.trainer.rewards.learned.shaping import Transitions
from rlaif.trainer.settings.rewards import AdditiveSettings

SETTINGS = AdditiveSettings(threshold=0.5, clip=2.0, count_power=3.0, caution=1.0, episode_cap=10.0)
SCALE_X = 240
RICH = slot_index("rupees")
"""Read by the reward model of these tests: z is ten times the slot."""
NOTHING = np.zeros((0, OBSERVATION_SIZE), dtype=np.float32)


def likes_rupees(observations: np.ndarray) -> np.ndarray:
    return 10.0 * observations[:, RICH]


def walk(squares: list[int], *, z: float | list[float] = 2.0, ends: dict[int, str] | None = None):
    """One environment on a row of squares: row t is where it stands before step t.

    `ends` maps a step to how the episode ended there; the row after it is the next start.
    """
    rows = np.zeros((len(squares), 1, OBSERVATION_SIZE), dtype=np.float32)
    rows[:, 0, slot_index("player_x")] = (np.array(squares) * 16 + 8) / SCALE_X
    rows[:, 0, RICH] = np.array(z, dtype=np.float32) / 10.0
    steps = len(squares) - 1
    ended = {kind: np.zeros((steps, 1), dtype=bool) for kind in ("terminated", "truncated")}
    for t, kind in (ends or {}).items():
        ended[kind][t] = True
    finals = np.argwhere(ended["truncated"])
    return Transitions(
        observations=rows,
        **ended,
        final_index=finals.astype(np.int64).reshape(-1, 2),
        final_observations=rows[finals[:, 0] + 1, 0] if len(finals) else NOTHING,
    )


def pay(
    *parts: Transitions, settings: AdditiveSettings = SETTINGS, weight: float = 1.0
) -> list[float]:
    rewards = AdditiveRewards(settings.model_copy(update={"weight": weight}))
    return np.concatenate([rewards.pay(0, part, likes_rupees) for part in parts])[:, 0].tolist()


def test_a_new_place_pays_what_is_above_the_threshold():
    assert pay(walk([0, 1], z=1.7)) == pytest.approx([1.2])


def test_what_is_ordinary_pays_nothing_and_nothing_is_ever_taken():
    assert pay(walk([0, 1, 2, 3], z=[0, -3, 0.5, 0.2])) == [0, 0, 0]


def test_a_step_pays_at_most_the_clip():
    assert pay(walk([0, 1], z=9.0)) == [2.0]


def test_the_nth_step_at_a_place_pays_n_to_the_minus_three():
    assert pay(walk([0, 1, 1, 1], z=1.5)) == pytest.approx([1.0, 1 / 8, 1 / 27])


def test_coming_back_to_the_start_is_no_first_time():
    assert pay(walk([0, 1, 0], z=1.5)) == pytest.approx([1.0, 1 / 8])


def test_each_episode_counts_anew():
    paid = pay(walk([0, 1, 0, 1], z=1.5, ends={1: "truncated"}))
    assert paid == pytest.approx([1.0, 1 / 8, 1.0])


def test_the_step_that_the_game_ended_pays_nothing_for_the_next_start():
    assert pay(walk([0, 1, 5, 1], z=1.5, ends={1: "terminated"})) == pytest.approx([1.0, 0.0, 1.0])


def test_a_step_that_a_limit_cut_pays_for_what_it_reached():
    part = walk([0, 1, 0], z=1.5, ends={1: "truncated"})
    part.final_observations[0, slot_index("player_x")] = 9 * 16 / SCALE_X
    assert pay(part) == pytest.approx([1.0, 1.0])


def test_an_episode_is_paid_at_most_its_cap_and_it_is_counted():
    rewards = AdditiveRewards(SETTINGS.model_copy(update={"weight": 0.5}))
    paid = rewards.pay(0, walk(list(range(15)), z=2.5), likes_rupees)[:, 0]
    assert paid.sum() == pytest.approx(0.5 * SETTINGS.episode_cap)
    assert paid[:5] == pytest.approx(0.5 * 2.0)
    assert not paid[5:].any()
    assert rewards.capped == 1


def test_a_runner_that_was_started_anew_has_been_paid_nothing():
    rewards = AdditiveRewards(SETTINGS)
    part = walk([0, 1], z=1.5)
    first = rewards.pay(0, part, likes_rupees)
    assert rewards.pay(0, part, likes_rupees) == pytest.approx(1 / 8)
    assert np.array_equal(rewards.pay(0, part, likes_rupees, continues=False), first)


def test_without_a_model_nothing_is_paid():
    assert not AdditiveRewards(SETTINGS).pay(0, walk([0, 1, 2]), None).any()


@given(
    loop=st.lists(st.integers(0, 14), min_size=1, max_size=8),
    laps=st.integers(1, 60),
    z=st.floats(-5, 50),
    size=st.integers(1, 50),
)
@settings(max_examples=60, deadline=None)
def test_farming_a_loop_pays_little_more_than_walking_it_once(loop, laps, z, size):
    """The sum of n^-3 is below 1.203: a place that is visited for ever pays a fifth more."""
    path = [loop[0], *(loop * laps)]
    parts = [walk(path[start : start + size + 1], z=z) for start in range(0, len(path) - 1, size)]
    paid = pay(*parts)
    once = min(max(z - SETTINGS.threshold, 0.0), SETTINGS.clip)
    assert min(paid) >= 0.0
    assert sum(paid) <= 1.203 * once * len(set(loop)) + 1e-5
    assert sum(paid) <= SETTINGS.episode_cap + 1e-5


@given(
    squares=st.lists(st.integers(0, 14), min_size=2, max_size=80),
    ends=st.dictionaries(st.integers(0, 78), st.sampled_from(["terminated", "truncated"])),
    size=st.integers(1, 40),
)
@settings(max_examples=60, deadline=None)
def test_cutting_into_fragments_changes_nothing(squares, ends, size):
    steps = len(squares) - 1
    known = {t: kind for t, kind in ends.items() if t < steps}
    whole = pay(walk(squares, ends=known))
    parts = []
    for start in range(0, steps, size):
        inside = {t - start: kind for t, kind in known.items() if start <= t < start + size}
        parts.append(walk(squares[start : start + size + 1], ends=inside))
    assert pay(*parts) == pytest.approx(whole)


def test_it_goes_on_from_its_state():
    rewards = AdditiveRewards(SETTINGS)
    for runner in (0, 3):
        rewards.pay(runner, walk([0, 1, 2, 1, 2, 3], z=1.1 + runner / 10), likes_rupees)
    resumed = AdditiveRewards(SETTINGS)
    resumed.load_state_dict(rewards.state_dict())
    for runner in (0, 3):
        part = walk([3, 2, 9, 1, 8, 7, 6, 5], z=2.5)
        assert np.array_equal(
            rewards.pay(runner, part, likes_rupees), resumed.pay(runner, part, likes_rupees)
        )
    assert resumed.state_dict().keys() == rewards.state_dict().keys()


def test_of_an_ensemble_the_lower_bound_counts():
    members = np.array([[1.0, 2.0], [3.0, 2.0]], dtype=np.float32)
    assert lower_bound(members, 1.0).tolist() == [1.0, 2.0]
    assert lower_bound(members, 0.0).tolist() == [2.0, 2.0]
    assert lower_bound(members[:1], 5.0).tolist() == [1.0, 2.0]


def observation(**slots: float) -> np.ndarray:
    row = np.zeros((1, OBSERVATION_SIZE), dtype=np.float32)
    for name, value in slots.items():
        row[0, slot_index(name)] = value
    return row


@pytest.mark.parametrize(
    "fleeting",
    ["health", "rupees", "bombs", "keys", "text_active", "menu_open", "facing_up", "hurt",
     "triggers", "switches", "torches", "enemies_left", "enemy_1_dx", "player_height"],
)  # fmt: skip
def test_what_comes_and_goes_does_not_make_a_place_new(fleeting: str):
    """Each of these could be turned on and off for ever."""
    assert places_of(observation(**{fleeting: 1.0})) == places_of(observation())


@pytest.mark.parametrize(
    "lasting",
    ["room_bit_0", "group_bit_2", "boss_key", "essences", "has_feather", "item_taken", "player_y"],
)
def test_another_room_square_or_possession_is_another_place(lasting: str):
    assert places_of(observation(**{lasting: 1.0})) != places_of(observation())


@pytest.mark.parametrize(("name", "scale"), [("player_x", 240), ("player_y", 176)])
def test_pixels_of_one_square_are_one_place(name: str, scale: int):
    at = [
        observation(**{name: float(np.float32(pixel) / np.float32(scale))})
        for pixel in range(scale)
    ]
    numbers = places_of(np.concatenate(at)).tolist()
    squares = range(0, scale, 16)
    assert [len(set(numbers[start : start + 16])) for start in squares] == [1] * len(squares)
    assert len(set(numbers)) == len(squares)


def test_places_of_different_rooms_do_not_collide():
    rows = np.zeros((2048, OBSERVATION_SIZE), dtype=np.float32)
    bits = [f"group_bit_{n}" for n in range(3)] + [f"room_bit_{n}" for n in range(8)]
    for number, name in enumerate(bits):
        rows[:, slot_index(name)] = np.arange(2048) >> number & 1
    assert len(set(places_of(rows).tolist())) == 2048
