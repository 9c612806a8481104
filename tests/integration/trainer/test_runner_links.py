"""Runners in child processes and on a Ray cluster: the same behaviour behind the same port."""

from collections.abc import Iterator
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np
import pytest

from rlaif.game.machine.rom_checks import CartridgeError
from rlaif.trainer.learner.runners.opening import open_runners
from rlaif.trainer.learner.runners.pool import LostRunnerError, RunnerPool
from rlaif.trainer.learner.runners.runner import RunnerConfig
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.settings.game import GameSettings

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Ray's own, on every start
    pytest.mark.timeout(600),
]

SECONDS = 120.0
LIFE = attrgetter("_life")


@pytest.fixture(params=["child process", "Ray actor"])
def pool(request: pytest.FixtureRequest) -> Iterator[RunnerPool]:
    if request.param == "Ray actor":
        request.getfixturevalue("ray_here")
    game = GameSettings(actions="seed", noop_start=0, walk_start=0, episode_length=50)
    config = RunnerConfig(EnvConfig(run_id="t", game=game), count=1)
    made = open_runners(config, 2, on_cluster=request.param == "Ray actor")
    made.wait_until_ready()
    yield made
    made.stop()


def weights(scale: float) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    sizes = {"encoder.actor_encoder.net.mlp.0": (128, 8), "pi.net.mlp.0": (8, 8)}
    found: dict[str, Any] = {}
    for name, (inputs, outputs) in sizes.items():
        found[f"{name}.weight"] = rng.normal(0, scale, (outputs, inputs)).astype(np.float32)
        found[f"{name}.bias"] = np.zeros(outputs, dtype=np.float32)
    return found


def sample(steps: int) -> Any:
    return methodcaller("sample", steps=steps, capture_quota=0, context=CaptureContext())


def test_the_port(pool: RunnerPool):
    assert pool.ask(attrgetter("number")) == [1, 2], "in the order of the runners"

    # Weights count from the next request on.
    pool.order(methodcaller("set_weights", weights(0.0), 1))
    first = pool.order(sample(4))
    pool.order(methodcaller("set_weights", weights(1.0), 2))
    second = pool.order(sample(4))
    old, new = pool.answers(first, SECONDS), pool.answers(second, SECONDS)
    assert [each.policy_version for each in (*old, *new)] == [1, 1, 2, 2]
    assert not any(each.action_dist_inputs.any() for each in old)
    assert all(each.action_dist_inputs.any() for each in new)

    # What a call raises is raised here, and the runner continues.
    with pytest.raises(KeyError, match="vector"):
        pool.ask(methodcaller("load_state_dict", {}), SECONDS)
    assert pool.ask(LIFE) == [0, 0]

    # A runner ends in the middle of a call.
    ordered = pool.order(sample(1_000_000))
    pool._links[1].kill()
    with pytest.raises(LostRunnerError):
        ordered[1].result(SECONDS)
    assert not ordered[2].done(), "the other one plays on"

    # Another one is too slow.
    assert pool.answers(ordered, seconds=0.0) == []
    assert pool.healthy == []

    # Both are replaced by runners of another life, which get the weights.
    back: set[int] = set()
    while len(back) < 2:
        back |= set(pool.restore(lambda: methodcaller("set_weights", weights(1.0), 7), SECONDS))
    assert all(life for life in pool.ask(LIFE, SECONDS))
    assert [each.policy_version for each in pool.ask(sample(1), SECONDS)] == [7, 7]


def test_what_the_start_of_a_runner_raises_is_raised_here(tmp_path: Any):
    game = GameSettings(actions="seed", rom_path=tmp_path / "none.gbc")
    pool = open_runners(RunnerConfig(EnvConfig(run_id="t", game=game), count=1), 1)
    with pytest.raises(CartridgeError, match=r"none\.gbc"):
        pool.wait_until_ready()
    pool.stop()
