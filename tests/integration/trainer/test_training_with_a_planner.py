"""A run whose runner has a planner: real briefings and options, real updates, a resumed run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.planning.plans import MoveTo, Plan, Suggestion
from rlaif.testing.planner.scripted_planner import ScriptedPlanner
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.learner.runners import runner as runners
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.planner_port import PlannerQuestion
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import GameSettings

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def puzzle(puzzle_state: bytes, tmp_path: Path) -> Path:
    """A save state in a room with something to solve."""
    path = tmp_path / "puzzle.state"
    path.write_bytes(puzzle_state)
    return path


def answer(question: PlannerQuestion) -> Plan | Suggestion:
    """Walk to and fro over the free tiles of whatever room this is."""
    if question.kind == "suggestion":
        return Suggestion(reason="", button="UP")
    ways = within_reach(question.evidence.map)[-8:]
    walks = tuple(MoveTo(column=column, row=row) for column, row in ways[::2] + ways[1::2])
    return Plan(reason="", macros=walks, confidence=0.5)


def within_reach(rows: Sequence[str]) -> list[tuple[int, int]]:
    """(column, row) of free tiles to which such lead from the player, the nearest first."""
    marks = {(x, y): mark for y, row in enumerate(rows) for x, mark in enumerate(row)}
    found = [next(at for at, mark in marks.items() if mark == "@")]
    for x, y in found:
        around = ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
        found += [at for at in around if marks.get(at) == "." and at not in found]
    return found[1:]


@pytest.fixture
def planners(monkeypatch: pytest.MonkeyPatch) -> list[ScriptedPlanner]:
    """Those that runners open, in order; they answer at once."""
    opened: list[ScriptedPlanner] = []

    def open_planner(settings: Any) -> ScriptedPlanner | None:
        if not settings.is_on:
            return None
        opened.append(ScriptedPlanner(answer, at_once=True))
        return opened[-1]

    monkeypatch.setattr(runners, "open_planner", open_planner)
    return opened


def algorithm(puzzle: Path, **chosen: Any) -> ShapedPPO:
    settings = TrainerSettings.model_validate(
        {
            "actions": "seed",
            "ray_workers": 0,
            "envs_per_worker": 2,
            "batch_size": 512,
            "minibatch_size": 64,
            "epochs": 1,
            "curiosity_weight": 0.1,
            **chosen,
        }
    )
    game = GameSettings(
        actions="seed", initial_state_path=puzzle, episode_length=200, noop_start=2, walk_start=2
    )
    env = EnvConfig(run_id="r", game=game)
    return ShapedPPO(build_config(settings, env))


def weights(of: ShapedPPO) -> np.ndarray:
    state = of.learner_group.get_weights()["default_policy"]
    return np.concatenate([np.ravel(state[name]) for name in sorted(state)])


def test_without_an_address_there_is_no_assistance(puzzle: Path, planners: list[ScriptedPlanner]):
    of = algorithm(puzzle)
    of.train()
    (fragment,) = of.fragments
    assert planners == []
    assert fragment.assistance is None
    assert not fragment.by_planner.any()
    of.stop()


def test_a_run_learns_from_the_policys_steps_alone(puzzle: Path, planners: list[ScriptedPlanner]):
    of = algorithm(puzzle, planner_base_url="http://planner", takeover_share=0.5)
    before = weights(of)
    results = [of.train() for _ in range(2)]
    (fragment,) = of.fragments
    taken = int(fragment.by_planner.sum())
    assert 20 < taken < 512
    assert fragment.assistance is not None
    assert fragment.assistance.planner_steps == {"puzzle": taken}
    assert of.learned.samples_left_out == 0
    assert of.env_steps == 2 * 512
    figures = results[-1]
    assert figures["gradient_steps"] == -(-(512 - taken) // 64)
    assert not np.array_equal(weights(of), before)
    of.stop()
    assert planners[0].closed


def test_a_batch_of_the_planner_alone_makes_no_update(
    puzzle: Path, planners: list[ScriptedPlanner], monkeypatch: pytest.MonkeyPatch
):
    of = algorithm(puzzle, planner_base_url="http://planner")
    collected = of.sampler.collect

    def all_by_planner() -> list[Any]:
        fragments = collected()
        for fragment in fragments:
            fragment.by_planner[:] = True
        return fragments

    monkeypatch.setattr(of.sampler, "collect", all_by_planner)
    before = weights(of)
    of.train()
    assert np.array_equal(weights(of), before)
    assert of.learned.samples_left_out == 0
    monkeypatch.undo()
    of.train()
    assert not np.array_equal(weights(of), before)
    of.stop()
