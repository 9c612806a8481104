"""What the page shows of each step is what the game and the learner's own shaping paid for it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.trainer.play.config import PayingModel
from rlaif.trainer.play.followers.pay_meter import PayMeter
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions
from rlaif.trainer.run_folder.live_files import CAPACITY, StepReward, StepsFile

GAMMA, WEIGHT, WIDTH = 0.999, 10.0, 4
PARTS = ("room", "square", "damage")


def metered(file: StepsFile) -> PayMeter:
    meter = PayMeter(len(PARTS), lambda: 0.0)
    meter.file = file
    return meter


def phi(observations: np.ndarray) -> np.ndarray:
    return np.tanh(observations.sum(axis=1) - 1.5).astype(np.float32)


def read(tmp_path, *, after: int = 0, limit: int = CAPACITY) -> list[StepReward]:
    steps = StepsFile(tmp_path / "steps").read(after=after, limit=limit)
    assert steps is not None
    return steps


@given(ends=st.lists(st.sampled_from(["", "", "", "dies", "cut"]), min_size=2, max_size=80))
@settings(max_examples=25, deadline=None)
def test_each_step_has_the_pay_that_the_learner_counts_for_it(tmp_path_factory, ends):
    folder = tmp_path_factory.mktemp("run")
    rng = np.random.default_rng(len(ends))
    rows = rng.random((len(ends) + 1, WIDTH), dtype=np.float32)
    finals = rng.random((len(ends), WIDTH), dtype=np.float32)
    meter = metered(StepsFile.create(folder / "steps", PARTS))
    meter.pay_by(PayingModel(3, phi, GAMMA, WEIGHT))
    meter.begin_episode(rows[0])
    for t, end in enumerate(ends):
        reached = finals[t] if end == "cut" else rows[t + 1]
        meter.after_step(reached, terminated=end == "dies", truncated=end == "cut", env_step=8 * t)
        if end:
            meter.begin_episode(rows[t + 1])
        if t % 7 == 0:
            meter.read()
    opinion = meter.read()
    cut = [t for t, end in enumerate(ends) if end == "cut"]
    trans = Transitions(
        observations=rows[:, None],
        terminated=np.array([[end == "dies"] for end in ends]),
        truncated=np.array([[end == "cut"] for end in ends]),
        final_index=np.array([(t, 0) for t in cut], dtype=np.int64).reshape(-1, 2),
        final_observations=finals[cut],
    )
    shaped = PotentialShaper(gamma=GAMMA, weight=WEIGHT).shape(0, trans, phi(trans.visited()))
    steps, whole = read(folder), shaped.rewards
    assert opinion is not None
    rise = shaped.rises[: len(steps)].sum() / WEIGHT
    assert sum(opinion.rises or ()) == pytest.approx(rise, abs=1e-4)
    assert [step.paid for step in steps] == pytest.approx(whole[: len(steps), 0].tolist(), abs=1e-5)
    assert len(steps) == len(ends)
    assert [step.ended for step in steps] == [bool(end) for end in ends]
    assert [step.number for step in steps] == list(
        range(steps[0].number, steps[0].number + len(ends))
    )
    assert {step.reward_model_version for step in steps} == {3}


def test_the_parts_of_a_decision_are_those_of_all_its_steps_and_sum_to_its_reward(tmp_path):
    meter = metered(StepsFile.create(tmp_path / "steps", PARTS))
    row = np.zeros(WIDTH, np.float32)
    meter.begin_episode(row)
    for parts in ([1.0, 0.0, -0.25], [0.0, 0.5, 0.0]):
        reported = np.array(parts, dtype=np.float32)
        meter.note(float(reported.sum()), reported)
    meter.after_step(row, terminated=False, truncated=False, env_step=16)
    meter.after_step(row, terminated=False, truncated=False, env_step=24)
    meter.read()
    first, second = read(tmp_path)
    assert (first.env_step, first.reward, first.parts) == (16, 1.25, (1.0, 0.5, -0.25))
    assert sum(first.parts) == first.reward
    assert (second.reward, second.parts) == (0.0, (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    "model",
    [
        None,
        PayingModel(3, lambda rows: np.full(len(rows), np.nan, np.float32), GAMMA, WEIGHT),
    ],
    ids=["no model", "one that answers nonsense"],
)
def test_pay_that_is_not_known_is_not_zero(tmp_path, model):
    meter = metered(StepsFile.create(tmp_path / "steps", PARTS))
    meter.pay_by(model)
    meter.begin_episode(np.zeros(WIDTH, np.float32))
    meter.after_step(np.ones(WIDTH, np.float32), terminated=False, truncated=False)
    meter.read()
    (step,) = read(tmp_path)
    assert (step.paid, step.reward_model_version) == (None, None)


def test_steps_before_and_after_a_jump_do_not_follow_each_other(tmp_path):
    meter = metered(StepsFile.create(tmp_path / "steps", PARTS))
    row = np.zeros(WIDTH, np.float32)
    meter.begin_episode(row)
    meter.after_step(row, terminated=False, truncated=False)
    meter.read()
    meter.after_step(row, terminated=False, truncated=False)
    meter.resume_at(row)
    meter.after_step(row, terminated=False, truncated=False)
    meter.read()
    first, second = read(tmp_path)
    assert second.number > first.number + 1


def test_a_reader_gets_what_is_new_and_the_newest_when_it_was_late(tmp_path):
    ring = StepsFile.create(tmp_path / "steps", PARTS)
    steps = [StepReward(n, 8 * n, 0.5, (0.5, 0.0, 0.0)) for n in range(1, CAPACITY + 11)]
    ring.append(steps[:5])
    assert read(tmp_path) == steps[:5]
    assert read(tmp_path, after=3) == steps[3:5]
    assert read(tmp_path, after=5) == []
    ring.append(steps[5:])
    assert read(tmp_path, after=5) == steps[-CAPACITY:]
    assert read(tmp_path, limit=2) == steps[-2:]


def test_counts_of_another_process_start_at_0_and_are_read(tmp_path):
    ring = StepsFile.create(tmp_path / "steps", PARTS)
    ring.append([StepReward(1, 8, 0.0, (0.0, 0.0, 0.0))])
    assert [step.number for step in read(tmp_path, after=900)] == [1]


def test_an_empty_ring_is_read_and_what_is_none_is_refused(tmp_path):
    StepsFile.create(tmp_path / "steps", PARTS)
    assert read(tmp_path) == []
    assert StepsFile(tmp_path / "steps").parts == PARTS
    whole = (tmp_path / "steps").read_bytes()
    for broken in (whole[:-8], bytes(len(whole))):
        (tmp_path / "broken").write_bytes(broken)
        with pytest.raises(ValueError, match=r"live file|multiple"):
            StepsFile(tmp_path / "broken")
