"""Practice of rare events: start states, their movement, and resuming."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.game.captures.capture import pack_keyframe
from rlaif.trainer.play.exploration.approach import ApproachState
from rlaif.trainer.play.exploration.practice import MORE_STEPS, PATIENCE, TRIES, Practice

FAR = 512


def way(name: str, *distances: int) -> list[ApproachState]:
    """States before a milestone, the farthest first."""
    return [
        ApproachState(
            keyframe=pack_keyframe(f"{name} in {distance}".encode()),
            parent="ab" * 32,
            parent_steps=100,
            actions="0" * (FAR - distance),
            waits=(),
            distance=distance,
        )
        for distance in distances
    ]


def at(name: str, distance: int) -> str:
    """Provenance of a start at this distance from a milestone."""
    return f"practice:{name}@{distance}"


def drawn_by(practice: Practice, rng: np.random.Generator, times: int) -> list[ApproachState]:
    """Distances at which this many episodes start, without other starts."""
    starts = [practice.draw(rng) for _ in range(times)]
    moments = [practice.moment(start.provenance) for start in starts if start is not None]
    return [moment for moment in moments if moment is not None]


def practising(share: float = 1.0) -> Practice:
    practice = Practice(share=share)
    practice.learn("sword", way("sword", FAR, 64, 8))
    return practice


def play(practice: Practice, distance: int, *, reaches: bool, steps: int = 100) -> None:
    """An attempt at this distance from the sword, of this many steps."""
    practice.begin("0", at("sword", distance), played=None)
    if reaches:
        practice.see("0", ("sword",))
    practice.begin("0", "another start", played=steps)


def farthest_start(practice: Practice) -> int:
    """The farthest distance that is drawn now."""
    drawn = drawn_by(practice, np.random.default_rng(0), 50)
    return max(moment.distance for moment in drawn)


def test_without_milestones_nothing_is_practised():
    rng = np.random.default_rng(0)
    assert Practice(share=1.0).draw(rng) is None
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state


def test_starts_move_back_from_the_milestone_with_success():
    practice = practising()
    seen = [farthest_start(practice)]
    for _ in range(2):
        for _ in range(TRIES):
            play(practice, seen[-1], reaches=True)
        seen.append(farthest_start(practice))
    assert seen == [8, 64, FAR]


def test_mastered_starts_are_still_drawn_sometimes():
    practice = practising()
    for _ in range(TRIES):
        play(practice, 8, reaches=True)
    drawn = drawn_by(practice, np.random.default_rng(1), 400)
    assert {moment.distance for moment in drawn} == {8, 64}


def test_failed_attempts_do_not_move_the_frontier():
    practice = practising()
    for _ in range(5 * TRIES):
        play(practice, 8, reaches=False)
    assert farthest_start(practice) == 8


def test_an_attempt_ends_when_decided_and_has_a_time_limit():
    practice = practising()
    assert practice.max_steps("0") is None
    practice.begin("0", at("sword", 64), played=None)
    assert practice.is_attempting("0")
    assert practice.max_steps("0") == PATIENCE * 64 + MORE_STEPS
    practice.see("0", ("sword",))
    assert not practice.is_attempting("0")


def test_another_milestone_does_not_count_as_success():
    practice = practising()
    for _ in range(TRIES):
        practice.begin("0", at("sword", 8), played=None)
        practice.see("0", ("gate",))
        practice.begin("0", "another start", played=5)
    assert farthest_start(practice) == 8


@given(st.floats(0, 1), st.integers(1, 3000), st.integers(1, 3000))
def test_attempts_have_the_configured_share_of_steps(share: float, long: int, short: int):
    practice, rng = practising(share), np.random.default_rng(2)
    steps = {True: 0, False: 0}
    for kind, length in ((False, long), (True, short)):  # lengths of both kinds
        practice.begin("0", at("sword", 8) if kind else "elsewhere", played=None)
        practice.begin("0", "elsewhere", played=length)
    for _ in range(4000):
        is_try = practice.draw(rng) is not None
        steps[is_try] += short if is_try else long
    expected = steps[True] + steps[False]
    one_more = 4 * (long + short) * np.sqrt(4000)  # more than four standard deviations
    assert abs(steps[True] - share * expected) <= one_more


def test_a_mastered_milestone_leaves_the_starts_to_others():
    practice = practising()
    practice.learn("gate", way("gate", 16))
    for _ in range(TRIES):
        practice.begin("0", at("gate", 16), played=None)
        practice.see("0", ("gate",))
    drawn = drawn_by(practice, np.random.default_rng(3), 400)
    of_gate = drawn.count(way("gate", 16)[0])
    assert 15 < of_gate < 65, "one in eleven"


@given(
    st.lists(st.tuples(st.sampled_from([FAR, 64, 8]), st.booleans(), st.booleans()), max_size=30)
)
def test_restored_practice_behaves_as_the_saved_one(
    tries: list[tuple[int, bool, bool]],
):
    practice, resumed = practising(), Practice(share=1.0)
    for n, (distance, succeeds, goes_on) in enumerate(tries):
        practice.begin(str(n % 3), at("sword", distance), played=n)
        if succeeds:
            practice.see(str(n % 3), ("sword",))
        elif not goes_on:
            practice.begin(str(n % 3), "another start", played=2 * n)
    resumed.load_state_dict(practice.state_dict())
    assert resumed.state_dict() == practice.state_dict()
    for each in (practice, resumed):
        for environment in "012":
            each.see(environment, ("sword",))
            each.begin(environment, "another start", played=7)
    assert resumed.state_dict() == practice.state_dict()
    one, other = np.random.default_rng(4), np.random.default_rng(4)
    assert [practice.draw(one) for _ in range(20)] == [resumed.draw(other) for _ in range(20)]


def test_parents_of_all_start_states_are_reported():
    practice = practising()
    assert practice.parents == {"ab" * 32}
    assert practice.moment(at("sword", 64)) == way("sword", 64)[0]
    assert practice.moment("archive:cdcdcdcdcdcd") is None


def test_milestones_that_share_a_state_are_practised_independently():
    practice = Practice(share=1.0)
    for name in ("sword", "gate"):
        practice.learn(name, way("both", 64, 8))
    for _ in range(TRIES):
        play(practice, 8, reaches=True)
    tried = practice.state_dict()["ways"]
    assert [tried[name]["frontier"]["at"] for name in ("sword", "gate")] == [0, 1]
    for _ in range(TRIES):
        practice.begin("0", at("gate", 8), played=None)
        practice.see("0", ("gate",))
    assert practice.state_dict()["ways"]["gate"]["frontier"]["at"] == 0


def test_a_share_above_1_is_rejected():
    with pytest.raises(ValueError, match=r"share of practice 1\.5 must be 0 to 1"):
        Practice(share=1.5)
