"""Each step of the watched game on the real cartridge: displayed rewards are the received ones."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.telemetry.readings import PaidStep, PaidSteps
from rlaif.game.policy_input.layout import ALLOWED
from rlaif.testing.waiting import eventually
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.rewards.game.presets import PARTS
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions
from rlaif.trainer.run_folder.live_files import CAPACITY, StepsFile, steps_path
from rlaif.trainer.service.live import LiveView, RunnerScreens
from rlaif.trainer.settings.game import GameSettings

GAMMA, WEIGHT = 0.99, 3.0
ROWS = 320


def to_the_right(rows: np.ndarray) -> np.ndarray:
    return rows[:, 0] - rows[:, 1]


def played(tmp_path: Path, *, actions: str, count: int, choose: Callable[..., Any]) -> Fragment:
    """A fragment whose first game is watched; its episodes end on the way."""
    config = replace(
        EnvConfig(run_id="t", game=GameSettings(actions=actions, episode_length=130, watch_fps=60)),
        screens=tmp_path,
        gamma=GAMMA,
    )
    vector = EmulatorVector(config, count=count, runner=1, seed=6)
    vector.pay_by(PayingModel(3, to_the_right, gamma=GAMMA, weight=WEIGHT))
    rng = np.random.default_rng(1)
    vector.begin_fragment(ROWS, capture_quota=0, context=CaptureContext())
    for t in range(ROWS):
        vector.step(t, choose(rng, vector))
    vector.pay_by(None)  # counts what waits
    shape = (ROWS, count)
    fragment = vector.end_fragment(np.zeros((*shape, 1), np.float32), np.zeros(shape, np.float32))
    vector.close()
    return fragment


def any_button(rng: np.random.Generator, vector: EmulatorVector) -> np.ndarray:
    return rng.integers(0, 8, vector.count)


def seen(tmp_path: Path) -> tuple[PaidStep, ...]:
    screens = RunnerScreens()
    screens.update(tmp_path)
    found = screens.steps(datetime.now(UTC))
    assert found is not None
    return found.steps


def test_the_parts_of_each_of_300_steps_sum_to_its_reward_and_its_pay_is_the_learners(tmp_path):
    fragment = played(tmp_path, actions="seed", count=2, choose=any_button)
    steps = seen(tmp_path)
    assert len(steps) == 300
    newest = slice(ROWS - 300, ROWS)
    rewards = fragment.rewards[newest, 0]
    assert np.abs([sum(step.parts.values()) for step in steps] - rewards).max() < 1e-6
    assert np.abs([step.reward for step in steps] - rewards).max() < 1e-6
    assert rewards.any(), "nothing was paid, so nothing was shown"

    every = fragment.transitions
    cut = every.final_index[:, 1] == 0
    first = Transitions(
        every.observations[:, :1], every.terminated[:, :1], every.truncated[:, :1],
        every.final_index[cut], every.final_observations[cut],
    )  # fmt: skip
    shaper = PotentialShaper(gamma=GAMMA, weight=WEIGHT)
    learned = shaper.shape(0, first, to_the_right(first.visited())).rewards
    paid = [step.paid for step in steps]
    assert None not in paid
    assert np.abs(np.array(paid) - learned[newest, 0]).max() < 1e-4
    assert [step.ended for step in steps] == every.ended[newest, 0].tolist()
    assert any(step.ended for step in steps)
    assert np.diff([step.env_step for step in steps]).tolist() == [2] * 299


def test_decisions_of_many_steps_are_paid_what_all_their_steps_were(tmp_path):
    def any_decision(rng: np.random.Generator, vector: EmulatorVector) -> np.ndarray:
        inputs = vector.policy_inputs
        assert inputs is not None
        return np.array([rng.choice(np.flatnonzero(row[ALLOWED])) for row in inputs])

    fragment = played(tmp_path, actions="macros", count=1, choose=any_decision)
    ring = StepsFile(steps_path(tmp_path, 1))
    steps = ring.read(after=0, limit=CAPACITY)
    ring.close()
    assert steps is not None
    assert len(steps) == ROWS
    assert max(abs(step.reward - sum(step.parts)) for step in steps) < 1e-6
    reported = np.sum([step.parts for step in steps], axis=0)
    assert dict(zip(PARTS, reported.tolist(), strict=True)) == pytest.approx(fragment.reward_parts)
    assert any(step.reward for step in steps)


async def test_the_service_reports_new_steps_of_each_process_that_plays(tmp_path):
    sent: list[Any] = []

    class Telemetry:
        async def send(self, reading: Any) -> None:
            sent.append(reading)

        async def send_bytes(self, subject: str, payload: bytes) -> None:
            pass

    view = LiveView(Telemetry(), lambda: None, lambda: tmp_path, lambda: [], fps=5)
    task = asyncio.create_task(view.run())

    def reported() -> list[int]:
        readings = [reading for reading in sent if isinstance(reading, PaidSteps)]
        return [step.number for reading in readings for step in reading.steps]

    try:
        for times in (1, 2):
            await asyncio.to_thread(played, tmp_path, actions="seed", count=1, choose=any_button)
            await eventually(lambda: reported().count(ROWS) == times, "its newest step")  # noqa: B023
        assert len(set(reported())) >= 300
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
